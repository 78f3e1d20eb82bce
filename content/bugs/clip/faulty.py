def training_step(model, optimizer, scaler, clip, batch, max_norm=1.0):
    """One step in FP16; returns the loss."""
    optimizer.zero_grad()
    loss = model(batch)
    scaler.scale(loss).backward()
    clip(model.gradients, max_norm)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss
