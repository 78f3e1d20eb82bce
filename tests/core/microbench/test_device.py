"""What cannot be measured is refused in words: no torch, no GPU, an old driver, a dtype the card lacks, no memory."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from core.microbench.device import Device, NoDevice, find_device, lacks_by_capability, version_of


def torch_with(*, cuda: str | None = "13.0", available: bool = False, init: str = "", version: str = "2.11.0+cu130"):
    """A torch that sees no CUDA device, for a reason."""

    def fail() -> None:
        if init:
            raise RuntimeError(init)

    torch = ModuleType("torch")
    torch.__version__ = version
    torch.version = SimpleNamespace(cuda=cuda, hip=None)
    torch.cuda = SimpleNamespace(is_available=lambda: available, init=fail, set_device=lambda index: None)
    return torch


def test_without_torch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NoDevice, match=r"torch is not installed here; install it \(pip install torch\)"):
        find_device()


@pytest.mark.parametrize(
    ("torch", "words"),
    [
        (torch_with(cuda=None), "was built without CUDA; install a CUDA build, or use --device cpu"),
        (
            torch_with(init="The NVIDIA driver on your system is too old (found version 11040).\nPlease update"),
            r"is too old \(found version 11040\)\. \(torch 2\.11\.0\+cu130 was built for CUDA 13\.0\); or use",
        ),
        (torch_with(init="Found no NVIDIA driver on your system."), "Found no NVIDIA driver"),
        (torch_with(), "torch sees no CUDA device; check nvidia-smi and CUDA_VISIBLE_DEVICES"),
        (torch_with(version="2.1.0"), r"torch 2\.1\.0 is too old; install torch 2\.5 or newer"),
    ],
)
def test_no_cuda_is_said_with_its_reason(monkeypatch, torch, words):
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(NoDevice, match=words):
        find_device("cuda")


def test_a_device_that_fails_or_adds_wrong_is_refused(monkeypatch):
    torch = torch_with(available=True)
    monkeypatch.setitem(sys.modules, "torch", torch)

    def ones(count: int, device: str):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nmore")

    torch.ones = ones
    with pytest.raises(NoDevice, match=r"'cuda:0' does not work here: CUDA error: no kernel image .* the device$"):
        find_device()
    torch.ones = lambda count, device: SimpleNamespace(sum=lambda: 7.0)
    with pytest.raises(NoDevice, match="adds eight ones up to 7; it cannot be trusted"):
        find_device()


# CUDA C++ Programming Guide, features by compute capability: V100 7.0, T4 7.5, A100 8.0, L40S 8.9, H100 9.0.
@pytest.mark.parametrize(
    ("capability", "has"),
    [
        ((7, 0), {"fp32", "fp16"}),
        ((7, 5), {"fp32", "fp16", "int8"}),
        ((8, 0), {"fp32", "tf32", "bf16", "fp16", "int8"}),
        ((8, 9), {"fp32", "tf32", "bf16", "fp16", "fp8", "int8"}),
        ((9, 0), {"fp32", "tf32", "bf16", "fp16", "fp8", "int8"}),
        ((12, 0), {"fp32", "tf32", "bf16", "fp16", "fp8", "int8"}),
    ],
)
def test_dtypes_by_compute_capability(capability, has):
    dtypes = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")
    assert {dtype for dtype in dtypes if lacks_by_capability(dtype, capability) is None} == has


def test_a_missing_dtype_is_explained():
    assert lacks_by_capability("fp8", (8, 0)) == (
        "the card has no fp8 matrix units: its compute capability is 8.0, they came with 8.9"
    )


class Card(Device):
    """80 GB, of which others hold some."""

    memory_bytes = 80 * 10**9
    taken = 0

    def free_bytes(self) -> int:
        return self.memory_bytes - self.taken - self.own_bytes()

    def own_bytes(self) -> int:
        return 0


def test_memory_taken_by_others_is_told_from_a_card_that_is_too_small():
    card = Card("cuda")
    assert card.too_little(70 * 10**9, 0.9) is None
    assert card.too_little(90 * 10**9, 0.9) == "needs 90.0 GB of memory, 72.0 GB may be taken"
    card.__dict__["taken"] = 60 * 10**9
    assert card.too_little(70 * 10**9, 0.9) == (
        "needs 70.0 GB of memory, 18.0 GB may be taken: other processes hold 60.0 of its 80.0 GB"
    )


def test_a_cpu_has_a_cache_and_a_bound_on_memory():
    cpu = Device("cpu")
    assert cpu.cache_bytes >= 32 * 2**20
    assert 0 < cpu.free_bytes() <= 6 * 2**30
    assert cpu.capability is None
    assert not cpu.is_slice


@pytest.mark.parametrize(("text", "version"), [("2.11.0+cu130", (2, 11)), ("2.5", (2, 5)), ("nightly", (0, 0))])
def test_versions(text, version):
    assert version_of(text) == version
