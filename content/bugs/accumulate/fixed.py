from contextlib import nullcontext


def train(model, optimizer, batches, every):
    """One step of the optimizer for every so many micro-batches."""
    for number, batch in enumerate(batches, start=1):
        last = number % every == 0
        with nullcontext() if last else model.no_sync():
            loss = model(batch)
            (loss / every).backward()
        if number % every == 0:
            optimizer.step()
            optimizer.zero_grad()
