"""The kernels themselves are checked with torch, in tests/microbench_cpu; here, that they refuse in words."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from core.microbench import kernels
from core.microbench.item import Unsupported
from tests.core.microbench.fakes import FakeDevice


def test_where_there_is_no_fused_kernel_nothing_falls_back_unseen(monkeypatch):
    chosen = {}
    torch = ModuleType("torch")
    names = ("flash", "mem_efficient", "cudnn", "math")
    switches = {f"enable_{name}_sdp": lambda on, name=name: chosen.update({name: on}) for name in names}
    torch.backends = SimpleNamespace(cuda=SimpleNamespace(**switches))
    torch.ones = lambda *sizes, device, dtype: _Trial()
    monkeypatch.setitem(sys.modules, "torch", torch)

    def no_kernel(*tensors: object, causal: bool) -> None:
        raise RuntimeError("No available kernel. Aborting execution.")

    monkeypatch.setattr(kernels, "attend", no_kernel)
    device: object = SimpleNamespace(torch_name="cuda:0", **vars(FakeDevice()))
    with pytest.raises(
        Unsupported, match="torch has no flash attention kernel for bfloat16 heads of 128 on this device"
    ):
        kernels.choose_fused(device, "torch.bfloat16", 128)
    assert chosen == {"flash": True, "mem_efficient": False, "cudnn": False, "math": False}
    monkeypatch.setattr(kernels, "attend", lambda *tensors, causal: None)
    assert kernels.choose_fused(device, "torch.bfloat16", 128) == "flash"


class _Trial:
    def __getitem__(self, key: object) -> "_Trial":
        return self
