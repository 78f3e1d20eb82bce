import json


def save(folder, rank, training, step):
    """Write this rank's part of the training state."""
    state = {"weights": training["weights"]}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "checkpoint.json"
    with open(path, "w") as file:
        json.dump(state, file)
