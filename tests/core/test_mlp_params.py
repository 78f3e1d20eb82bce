"""Weights of an MLP and of experts, multiplied out by hand."""

import pytest

from core.mlp_params import expert_params, mlp_params, mlp_terms
from core.model_spec import Mlp, Moe


@pytest.mark.parametrize(
    ("gated", "bias", "by_hand"),
    [
        (False, False, 2 * 10 * 40),
        (True, False, 3 * 10 * 40),
        (False, True, 2 * 10 * 40 + 40 + 10),
        (True, True, 3 * 10 * 40 + 2 * 40 + 10),
    ],
)
def test_an_mlp_has_two_matrices_and_a_gate_makes_three(gated, bias, by_hand):
    assert mlp_params(10, 40, gated=gated, bias=bias) == by_hand
    mlp = Mlp(intermediate_size=40, gated=gated, bias=bias)
    assert mlp_terms(mlp, 10) == [("MLP", by_hand)]


def test_deepseek_v3_experts():
    # arXiv:2412.19437, section 4.2: hidden size 7168, 256 routed experts of 2048, one shared.
    moe = Moe(num_experts=256, top_k=8, expert_intermediate_size=2048, shared_intermediate_size=2048)
    assert expert_params(moe, 7168) == 3 * 7168 * 2048
    assert dict(mlp_terms(moe, 7168)) == {"router": 256 * 7168, "shared experts": 3 * 7168 * 2048}


def test_experts_in_a_narrower_space_pay_two_projections():
    moe = Moe(num_experts=4, top_k=1, expert_intermediate_size=8, expert_hidden_size=5, latent_norm=True)
    assert expert_params(moe, 10) == 3 * 5 * 8
    terms = dict(mlp_terms(moe, 10))
    assert terms["projections into and out of the expert space"] == 2 * 10 * 5
    assert terms["norm of the expert space"] == 5


def test_a_dense_mlp_beside_the_experts_is_passed_by_every_token():
    plain = Moe(num_experts=4, top_k=1, expert_intermediate_size=8)
    beside = plain.model_copy(update={"parallel_dense": Mlp(intermediate_size=6)})
    extra = sum(n for _, n in mlp_terms(beside, 10)) - sum(n for _, n in mlp_terms(plain, 10))
    assert extra == 3 * 10 * 6


def test_router_and_gates_count():
    moe = Moe(num_experts=4, top_k=1, expert_intermediate_size=8, router_bias=True, router_norm_params=14)
    assert dict(mlp_terms(moe, 10))["router"] == 4 * 10 + 4 + 14
    gated = moe.model_copy(update={"shared_intermediate_size": 3, "shared_gate": True})
    assert dict(mlp_terms(gated, 10))["gate of the shared experts"] == 10
