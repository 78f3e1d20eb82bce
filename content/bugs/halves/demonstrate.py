"""An array that knows on which device it lies, and refuses others, as a tensor of PyTorch does."""

import numpy as np

EVERYWHERE = "everywhere"


class Tensor:
    """An array on a device."""

    def __init__(self, data, device):
        self.data, self.device = np.asarray(data, dtype=float), device

    def to(self, device):
        return Tensor(self.data, device)

    def __matmul__(self, other):
        return Tensor(self.data @ other.data, shared_device(self, other))

    def __add__(self, other):
        return Tensor(self.data + other.data, shared_device(self, other))


def shared_device(*tensors):
    """The one device of all operands; what lies everywhere goes with each."""
    devices = sorted({tensor.device for tensor in tensors} - {EVERYWHERE})
    if len(devices) > 1:
        raise RuntimeError(f"all tensors must be on one device, found {' and '.join(devices)}")
    return devices[0]


def relu(tensor):
    return Tensor(np.maximum(tensor.data, 0), tensor.device)


def layers(seed=0):
    """An input and two whole matrices."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2, 4)), rng.normal(size=(4, 6)), rng.normal(size=(6, 4))


def outcome(code, device):
    """What happens to an input that lies on a device, beside the same layers on one device."""
    x, up, down = layers()
    ups = [Tensor(up[:, :3], "cuda:0"), Tensor(up[:, 3:], "cuda:1")]
    downs = [Tensor(down[:3], "cuda:0"), Tensor(down[3:], "cuda:1")]
    try:
        y = code.forward(Tensor(x, device), ups, downs, relu)
    except RuntimeError as error:
        return f"RuntimeError: {error}"
    off = np.abs(y.data - np.maximum(x @ up, 0) @ down).max()
    return f"on {y.device}, off the unsplit layers by {off:.0e}"


def demonstrate(code):
    """The program as it is called, and once with its inputs on both devices beforehand."""
    return "\n".join(
        [
            f"x on the CPU:        {outcome(code, 'cpu')}",
            f"x on both devices:   {outcome(code, EVERYWHERE)}",
        ]
    )
