"""What does not fit is said with its size, and every way out leads out."""

import re
from dataclasses import replace

import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.serving_fit import Deployment, fit_problems

ACCELERATORS, MODELS = load_accelerators(), load_models()
H100 = ACCELERATORS["h100-sxm"]
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]


def deployment(**changed):
    plain = Deployment(LLAMA, H100, context_len=4096, batch=32, tensor_parallel=4, memory_fraction=0.9)
    return replace(plain, **changed)


# aiconfigurator pull request 509: Llama 3.1 405B in bf16 on one H100 is 812 GB of weights for 86 GB of memory.
def test_weights_that_are_too_large_are_said_first():
    (problem,) = fit_problems(deployment(model=MODELS["meta-llama/Llama-3.1-405B"], tensor_parallel=1, batch=1))
    assert problem.field == "serving_tensor_parallel"
    assert problem.sentence == (
        "Tensor parallel for serving is 1: the weights alone need 812 GB on each GPU, 735 GB more than the 77.0 GB "
        "that the engine may take of H100 SXM. Choose tensor parallel 16."
    )


def test_bytes_are_said_in_the_family_that_was_asked_for():
    (problem,) = fit_problems(deployment(model=MODELS["meta-llama/Llama-3.1-405B"], tensor_parallel=1, batch=1), "GiB")
    assert "756 GiB on each GPU" in problem.sentence
    assert "GB" not in problem.sentence


def test_too_many_requests_are_said_with_the_most_that_fit():
    (problem,) = fit_problems(deployment(batch=200))
    assert (problem.field, problem.value) == ("batch", 200)
    assert "25.6 GB more than" in problem.rule
    assert problem.way_out.startswith("Choose at most 123 requests, tensor parallel 8, an fp8 cache or a context of ")


def test_one_request_that_is_too_long_has_its_own_words():
    qwen, card = MODELS["Qwen/Qwen2.5-14B"], ACCELERATORS["rtx-4090"]
    (problem,) = fit_problems(deployment(model=qwen, accelerator=card, context_len=131_072, batch=1, tensor_parallel=2))
    assert problem.rule.startswith("the weights and one request of 131,072 tokens need 27.8 GB on each GPU")


def test_every_way_out_leads_out():
    cases = [
        deployment(batch=200),
        deployment(model=MODELS["meta-llama/Llama-3.1-405B"], tensor_parallel=8, batch=4),
        deployment(accelerator=ACCELERATORS["rtx-4090"], tensor_parallel=8, context_len=65_536, batch=4),
        deployment(model=MODELS["deepseek-ai/DeepSeek-V3"], tensor_parallel=8, batch=64),
    ]
    for case in cases:
        (problem,) = fit_problems(case)
        tried = [
            cured
            for phrase in re.split(r", | or ", problem.way_out.removeprefix("Choose ").rstrip("."))
            if (cured := cure(case if problem.field == "batch" else replace(case, batch=1), phrase))
        ]
        assert tried
        for cured in tried:
            assert cured.fits, problem.way_out


def cure(case, phrase):
    """The deployment that a phrase asks for."""
    number = int(re.sub(r"\D", "", phrase) or 0)
    if phrase.startswith("tensor parallel"):
        return replace(case, tensor_parallel=number)
    if phrase.startswith("at most"):
        return replace(case, batch=number)
    if phrase.startswith("a context"):
        return replace(case, context_len=number)
    if phrase.endswith("weights"):
        return replace(case, formats={"weight_dtype": phrase.removesuffix(" weights")})
    assert phrase == "an fp8 cache"
    return replace(case, formats={"kv_dtype": "fp8"})


def test_what_nothing_cures_asks_for_another_gpu():
    (problem,) = fit_problems(
        deployment(model=MODELS["moonshotai/Kimi-K3"], accelerator=ACCELERATORS["t4"], tensor_parallel=1)
    )
    assert problem.way_out == "Choose a GPU with more memory, or a smaller model."


def test_a_context_beyond_the_model_is_said_even_where_it_fits():
    (problem,) = fit_problems(deployment(context_len=200_000, batch=1, tensor_parallel=8))
    assert problem.field == "context_len"
    assert problem.way_out == "Choose at most 131,072."


def test_what_fits_has_no_problem():
    assert fit_problems(deployment()) == []


def test_a_narrow_cache_is_not_offered_twice():
    (problem,) = fit_problems(deployment(batch=1000, formats={"kv_dtype": "fp8"}))
    assert "fp8 cache" not in problem.way_out


@pytest.mark.parametrize("batch", [124, 125])
def test_the_largest_batch_named_is_the_largest(batch):
    (problem,) = fit_problems(deployment(batch=batch))
    assert "at most 123 requests" in problem.way_out
    assert fit_problems(deployment(batch=123)) == []
