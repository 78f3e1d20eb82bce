import json
import os


def save(folder, rank, training, step):
    """Write this rank's part of the training state."""
    state = {**training, "step": step}
    folder = folder / f"step-{step}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rank-{rank}.json"
    partial = path.with_suffix(".partial")
    with open(partial, "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
