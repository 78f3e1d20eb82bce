"""From an event's category and name to what it is: computation, communication, a copy, a launch, a wait for input.

Categories are those that Kineto writes, today's and those before PyTorch 1.13 (pytorch/kineto,
libkineto/src/ActivityType.cpp).
"""

from __future__ import annotations

import re

from core.trace.columns import Kind

_GPU = {
    "kernel": Kind.COMPUTE,
    "Kernel": Kind.COMPUTE,
    "gpu_memcpy": Kind.MEMCPY,
    "Memcpy": Kind.MEMCPY,
    "gpu_memset": Kind.MEMSET,
    "Memset": Kind.MEMSET,
}
_RUNTIME = {"cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "privateuse1_runtime"}
_HOST = {"user_annotation", "cpu_op", "Operator"}

# NCCL, and RCCL which kept the names: the rule of HolisticTraceAnalysis 0.5.0 (hta/utils/utils.py).
_NCCL = re.compile(r"nccl.*Kernel")
# Kernels that serving engines and expert parallelism use in NCCL's place; HolisticTraceAnalysis counts them as compute.
# vLLM csrc/custom_all_reduce.cuh; PyTorch's symmetric memory, CUDASymmetricMemoryOps.cu; NVSHMEM; DeepEP csrc/kernels.
_OTHER_COLLECTIVES = re.compile(
    r"\bcross_device_reduce_[12]stage|\bmultimem_(?:all_reduce|one_shot|all_gather)|\b(?:one|two)_shot_all_reduce"
    r"|\bnvshmem|\bdeep_ep::(?:internode|intranode|internode_ll)::(?:dispatch|combine|notify)"
)
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,15})")
# torch.utils.data.DataLoader names its own range so (torch/utils/data/dataloader.py, _BaseDataLoaderIter.__next__).
_INPUT = re.compile(r"enumerate\(DataLoader\)")
# Gloo and MPI reduce on the host; a barrier holds the host until every rank is there.
_HOST_COMMUNICATION = re.compile(r"gloo:|mpi:|c10d::(?:barrier|monitored_barrier_)")

_COLLECTIVE = re.compile(
    r"nccl(?:DevKernel|Kernel|Kernel_Generic)?_(\w+?)(?:_(?:Sum|Prod|Max|Min|Avg|RING|TREE|NVLS|COLLNET|PAT)\w*)?(?:\(|$)"
)
_MATRIX = re.compile(r"gemm|gemv|cutlass|nvjet|xmma|splitK|cublas|_mm_|wgmma", re.IGNORECASE)
_ATTENTION = re.compile(r"flash|fmha|attention|sdpa", re.IGNORECASE)


def kind_of(category: str, name: str) -> Kind | None:
    """What an event is; None for one that the time split has no use for."""
    kind = _GPU.get(category)
    if kind is Kind.COMPUTE:
        return Kind.COMMUNICATION if is_collective(name) else Kind.COMPUTE
    if kind is not None:
        return kind
    if category in _RUNTIME:
        return Kind.RUNTIME
    if category in _HOST:
        if category == "user_annotation" and _STEP.match(name):
            return Kind.STEP
        if _INPUT.match(name):
            return Kind.INPUT
        if _HOST_COMMUNICATION.match(name):
            return Kind.HOST_COMMUNICATION
    return None


def is_collective(kernel: str) -> bool:
    """Whether a kernel moves data between GPUs."""
    return bool(_NCCL.match(kernel) or _OTHER_COLLECTIVES.search(kernel))


def collective_name(kernel: str) -> str:
    """The collective inside a kernel's name: ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...) is AllReduce."""
    found = _COLLECTIVE.match(kernel)
    return found[1] if found else short_name(kernel)


def step_number(name: str) -> int:
    """ProfilerStep#12 is 12."""
    found = _STEP.match(name)
    if found is None:
        raise ValueError(f"{name=} is no ProfilerStep#")
    return int(found[1])


def work_of(kernel: str) -> str:
    """What a compute kernel most likely works on, by its name: a hint for a reader, no measurement."""
    if _ATTENTION.search(kernel):
        return "attention"
    return "matrix products" if _MATRIX.search(kernel) else "element-wise and other"


def short_name(kernel: str) -> str:
    """A kernel's name without return type, template arguments and parameters, as far as brackets can be matched."""
    if kernel.startswith(("Memcpy", "Memset")) or not kernel.isprintable():
        return kernel
    kept, depth = [], 0
    for character in kernel.replace("(anonymous namespace)::", "").replace("->", ""):
        if character in "<(":
            depth += 1
        elif character in ">)":
            depth = max(depth - 1, 0)
        elif depth == 0:
            kept.append(character)
    return "".join(kept).strip().rpartition(" ")[2] or kernel
