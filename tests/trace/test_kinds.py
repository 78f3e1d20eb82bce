"""Names as profilers write them, and what they are taken for."""

from __future__ import annotations

import pytest

from core.trace.columns import Kind
from core.trace.kinds import collective_name, is_collective, kind_of, short_name, step_number, work_of
from tests.trace.build import ADD, ALL_REDUCE, MATMUL


@pytest.mark.parametrize(
    ("category", "name", "kind"),
    [
        ("kernel", MATMUL, Kind.COMPUTE),
        ("Kernel", ADD, Kind.COMPUTE),
        ("kernel", ALL_REDUCE, Kind.COMMUNICATION),
        ("kernel", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, ncclWork*)", Kind.COMMUNICATION),
        ("kernel", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(RankData*)", Kind.COMMUNICATION),
        ("gpu_memcpy", "Memcpy DtoD (Device -> Device)", Kind.MEMCPY),
        ("gpu_memset", "Memset (Device)", Kind.MEMSET),
        ("cuda_runtime", "cudaLaunchKernel", Kind.RUNTIME),
        ("cuda_driver", "cuLaunchKernelEx", Kind.RUNTIME),
        ("user_annotation", "ProfilerStep#12", Kind.STEP),
        ("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", Kind.INPUT),
        ("user_annotation", "gloo:all_reduce", Kind.HOST_COMMUNICATION),
        ("gpu_user_annotation", "ProfilerStep#12", None),  # the GPU's copy of the range
        ("gpu_user_annotation", "nccl:all_reduce", None),
        ("user_annotation", "nccl:all_reduce", None),  # the host's range around a launch; the kernel is counted
        ("cpu_op", "aten::mm", None),
        ("cuda_sync", "Stream Wait Event", None),
        ("python_function", "nn.Module: Linear_0", None),
        ("", "", None),
    ],
)  # fmt: skip
def test_an_event_is_told_by_category_and_name(category, name, kind):
    assert kind_of(category, name) is kind


def test_a_compute_kernel_that_mentions_a_collective_stays_compute():
    # Fused kernels of the compiler carry the names of what they replace.
    assert not is_collective("triton_poi_fused_all_reduce_wait_tensor_0")
    assert not is_collective("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(...)")


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (ALL_REDUCE, "AllReduce"),
        ("ncclDevKernel_ReduceScatter_Sum_f32_RING_SIMPLE(ncclDevKernelArgsStorage<4096ul>)", "ReduceScatter"),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllGather"),
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "AllReduce"),
        ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(RankData*)", "vllm::cross_device_reduce_1stage"),
    ],
)
def test_a_kernel_s_name_holds_the_collective(kernel, name):
    assert collective_name(kernel) == name


@pytest.mark.parametrize(
    ("kernel", "short"),
    [
        (ADD, "at::native::vectorized_elementwise_kernel"),
        (MATMUL, MATMUL),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("void (anonymous namespace)::softmax_warp_forward<float, 10>(float*, int)", "softmax_warp_forward"),
        ("<((>", "<((>"),
        ("", ""),
    ],
)
def test_a_short_name_leaves_out_types_and_parameters(kernel, short):
    assert short_name(kernel) == short


@pytest.mark.parametrize(
    ("kernel", "work"),
    [
        (MATMUL, "matrix products"),
        ("nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "matrix products"),
        ("gemv2T_kernel_val<int, int, __nv_bfloat16>", "matrix products"),
        ("void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64>>", "attention"),
        (ADD, "element-wise and other"),
    ],
)
def test_a_name_hints_at_the_work(kernel, work):
    assert work_of(kernel) == work


def test_a_step_carries_its_number():
    assert step_number("ProfilerStep#41") == 41
    with pytest.raises(ValueError, match="no ProfilerStep#"):
        step_number("ProfilerStep")
