"""Every derivation's last line, computed by a stranger to the formulas, gives the function's value."""

import ast
import operator
import re

import pytest

from core.activation_working import activation_working, layer_activation_working, logits_working
from core.activations import activation_bytes_per_layer, layer_activation_bytes, logits_bytes
from core.collectives import zero_traffic
from core.model_spec import Attention, Layer, Mlp, Moe
from core.traffic_working import traffic_working
from core.working import Term, Working, number, product, scalar
from core.zero import OFFLOADS, RECIPES, STAGES, largest_model, zero_memory
from core.zero_working import largest_model_working, zero_working

ALLOWED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def calculate(line):
    """Plain arithmetic and nothing else: numbers, brackets and four signs."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", line).replace("×", "*")

    def visit(node):
        match node:
            case ast.Expression(body=body):
                return visit(body)
            case ast.Constant(value=int() | float() as value):
                return value
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ALLOWED:
                return ALLOWED[type(op)](visit(left), visit(right))
        raise AssertionError(f"{ast.dump(node)} is no plain arithmetic in {line!r}")

    return visit(ast.parse(text.strip(), mode="eval"))


def holds(working, value):
    assert working.value == value
    assert calculate(working.substitution) == pytest.approx(value, rel=1e-12)
    for term in working.terms:
        assert calculate(term.expression) == pytest.approx(term.value, rel=1e-12)
    assert sum(term.value for term in working.terms) == pytest.approx(value, rel=1e-12)
    assert working.unit
    assert working.source
    assert working.formula
    assert working.assumptions
    result = working.lines[-1].removeprefix("= ").removesuffix(f" {working.unit}")
    assert calculate(result) == pytest.approx(value, rel=1e-14)  # 41,943,040.00000001 reads 41,943,040


@pytest.mark.parametrize("offload", OFFLOADS)
@pytest.mark.parametrize("optimizer", RECIPES)
@pytest.mark.parametrize("stage", STAGES)
def test_model_states(stage, optimizer, offload):
    inputs = {"stage": stage, "optimizer": optimizer, "offload": offload}
    working = zero_working(70553706496, 64, **inputs)
    holds(working, zero_memory(70553706496, 64, **inputs).total_bytes)


def test_model_states_read_as_on_a_whiteboard():
    assert zero_working(7.5e9, 64, stage=2).lines == (
        "2Ψ + 2Ψ/N + 12Ψ/N",
        "= 2 × 7,500,000,000 + 2 × 7,500,000,000 / 64 + 12 × 7,500,000,000 / 64",
        "= 16,640,625,000 bytes",
    )


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("optimizer", RECIPES)
def test_the_largest_model(stage, optimizer):
    working = largest_model_working(80 * 2**30, 24, stage=stage, optimizer=optimizer)
    holds(working, largest_model(80 * 2**30, 24, stage=stage, optimizer=optimizer))


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("sequence_parallel", [False, True])
@pytest.mark.parametrize("tensor_parallel", [1, 8])
def test_activations_of_the_papers_layer(tensor_parallel, sequence_parallel, recompute):
    inputs = {
        "seq_len": 2048,
        "micro_batch_size": 3,
        "hidden_size": 12288,
        "num_attention_heads": 96,
        "tensor_parallel": tensor_parallel,
        "sequence_parallel": sequence_parallel,
        "recompute": recompute,
    }
    holds(activation_working(**inputs), activation_bytes_per_layer(**inputs))


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("fused_attention", [False, True])
def test_activations_of_a_real_layer(fused_attention, recompute):
    layer = Layer(
        mixer=Attention(num_heads=32, num_kv_heads=4, head_dim=128, v_head_dim=128, qk_norm="head"),
        mlp=Moe(num_experts=128, top_k=8, expert_intermediate_size=768, shared_intermediate_size=768),
    )
    options = {
        "seq_len": 4096,
        "micro_batch_size": 2,
        "tensor_parallel": 8,
        "sequence_parallel": True,
        "context_parallel": 2,
        "fused_attention": fused_attention,
        "recompute": recompute,
    }
    working = layer_activation_working(layer, 2048, **options)
    holds(working, layer_activation_bytes(layer, 2048, **options))
    assert all(term.why for term in working.terms)


def test_logits():
    inputs = {
        "seq_len": 8192,
        "micro_batch_size": 2,
        "vocab_size": 128256,
        "tensor_parallel": 8,
        "copies": 3,
    }
    holds(logits_working(**inputs), logits_bytes(**inputs))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("data_parallel", [1, 64])
def test_traffic(data_parallel, stage):
    inputs = {"stage": stage, "optimizer": "adam-fp32-grads", "accumulation_steps": 8}
    holds(
        traffic_working(70553706496, data_parallel, **inputs),
        zero_traffic(70553706496, data_parallel, **inputs).total_bytes,
    )


def test_numbers_lose_no_digit():
    assert [number(x) for x in (70553706496, 2.0, 4.127, 1e-6, 3 / 7, 2509393121548.5415)] == [
        "70,553,706,496",
        "2",
        "4.127",
        "1e-06",
        "0.42857142857142855",
        "2,509,393,121,548.5415",
    ]
    assert product(2, "(3 + 4)", 1000) == "2 × (3 + 4) × 1,000"


def test_the_last_bits_of_a_double_are_no_digits():
    assert number(16731611136.000002) == "16,731,611,136"
    assert number(0.1 + 0.2) == "0.30000000000000004"  # nothing else is rounded


def test_a_sweep_has_no_single_derivation():
    with pytest.raises(ValueError, match="data_parallel has 2 values; a derivation shows one"):
        zero_working(7e9, [8, 64], stage=1)
    assert scalar("stage", [[3]]) == 3


def test_terms_add_up_to_the_line():
    working = Working("x", "a + b", (Term("a", "2 × 3", 6, "bytes"), Term("b", "8 / 2", 4, "bytes")), 10, "bytes")
    assert working.lines == ("a + b", "= 2 × 3 + 8 / 2", "= 10 bytes")


def test_the_calculator_of_this_test_refuses_anything_but_arithmetic():
    with pytest.raises(AssertionError, match="no plain arithmetic"):
        calculate("__import__('os')")


def test_a_dense_layer_names_each_tensor_once():
    layer = Layer(
        mixer=Attention(num_heads=8, num_kv_heads=8, head_dim=64, v_head_dim=64), mlp=Mlp(intermediate_size=2048)
    )
    labels = [term.label for term in layer_activation_working(layer, 512, seq_len=128).terms]
    assert len(set(labels)) == len(labels)
