"""The derivation, typed into a calculator, gives the function's value."""

import pytest

from core.kv_cache import kv_bytes
from core.kv_working import kv_working
from tests.shapes import DEEPSEEK_V4_FLASH, GPT_OSS_120B, INDEXER, LLAMA_70B, QWEN_27B, mla, stack

MODELS = {
    "full": LLAMA_70B,
    "window": GPT_OSS_120B,
    "latent": mla(61, indexer=INDEXER),
    "compressed": DEEPSEEK_V4_FLASH,
    "hybrid": QWEN_27B,
    "none": stack((2, None)),
}
OPTIONS = [
    {},
    {"layout": "expanded", "indexer": "included", "indexer_dtype": "fp8"},
    {"reservation": "uniform", "page_tokens": 64, "kv_dtype": "mxfp8", "tensor_parallel": 4},
]


def calculated(expression):
    return eval(expression.replace(",", "").replace("×", "*"), {"__builtins__": {}})


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "expanded", "uniform"])
@pytest.mark.parametrize("tokens", [1, 1000, 131_072])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_values_put_in_give_the_result(model, tokens, options):
    working = kv_working(model, tokens, batch=32, **options)
    assert working.value == kv_bytes(model, tokens, batch=32, **options)
    assert calculated(working.substitution) == working.value
    for term in working.terms:
        assert calculated(term.expression) == term.value


def test_reads_as_a_person_would_write_it():
    working = kv_working(LLAMA_70B, 4096, batch=32)
    assert working.substitution == "80 × 8 × (128 + 128) × 4,096 × 2 × 32"
    assert working.lines[-1] == "= 42,949,672,960 bytes"


def test_each_kind_of_layer_has_a_line_of_its_own():
    assert [term.label for term in kv_working(GPT_OSS_120B, 4096).terms] == [
        "18 layers, sliding attention",
        "18 layers, full attention",
    ]
    assert [term.label for term in kv_working(DEEPSEEK_V4_FLASH, 4096).terms] == [
        "2 layers, window",
        "21 layers, window",
        "21 layers, pooled, 1 for 4 tokens",
        "21 layers, index keys",
        "20 layers, window",
        "20 layers, pooled, 1 for 128 tokens",
    ]


def test_conventions_are_said_where_they_matter():
    assert kv_working(LLAMA_70B, 4096).assumptions == ("bf16 keys and values",)
    said = " ".join(kv_working(mla(61, indexer=INDEXER), 4096, tensor_parallel=8).assumptions)
    assert "left out" in said
    assert "latents" in said
    assert "every token" in " ".join(kv_working(GPT_OSS_120B, 4096, reservation="uniform").assumptions)


def test_a_sweep_has_no_single_derivation():
    with pytest.raises(ValueError, match="3 values"):
        kv_working(LLAMA_70B, [1, 2, 3])
