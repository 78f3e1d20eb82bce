"""What passes through a GPU in the backward pass, part by part, as the papers and DeepSpeed's defaults give it."""

from core.memory_working import fullest_stage, peak_workings
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}


def passing(scenario):
    return {term.label: term.expression for term in peak_workings(scenario)[0].terms[4:]}


# The head of Llama 3.1 70B, 128,256 x 8,192 weights, is its largest unit: whole twice, with its whole gradients.
def test_the_peak_names_what_stage_3_makes_whole():
    assert passing(START.training) == {
        "whole weights of a layer, embedding or head, and of one prefetched": "2 × 2 × 1,050,673,152",
        "whole gradients of a layer, embedding or head": "2 × 1,050,673,152",
    }


def test_the_peak_names_buckets_and_the_layer_made_again():
    bucket = {"bucket of whole gradients": "4 × 500,000,000"}  # DeepSpeed's reduce_bucket_size, fp32
    assert passing(PRESETS["llama31-405b-16384"].training) == bucket
    # s b h (8 + 24/t + 2 a s / (h t)) less the kept 2 s b h, without dropout: Korthikanti et al. 2022, equation 2.
    sbh = 2048 * 25_600
    whole = sbh * (8 + 24 / 8 + 2 * 160 * 2048 / (25_600 * 8))
    assert passing(PRESETS["megatron-1t-3072"].training) == {
        "a layer made again, less what it had kept": f"{round(whole):,} - {2 * sbh:,}"
    }


# The fullest stage holds 4 x 256 / 64 experts of 3 x 7168 x 2048 and 0.93e9 dense weights: both exceed a bucket.
def test_experts_have_a_bucket_of_their_own():
    at_two = changed(PRESETS["deepseek-v3-h800"], zero_stage=2).training
    stage, memory = fullest_stage(at_two)
    terms = passing(at_two)
    assert terms["bucket of whole gradients"] == terms["bucket of experts' whole gradients"] == "4 × 500,000,000"
    # s (570,880 B a token) by hand, less the kept 2 s h
    assert terms["a layer made again, less what it had kept"] == "2,338,324,480 - 58,720,256"
    assert float(memory.transient_bytes[stage]) == 2 * 2e9 + 2_338_324_480 - 58_720_256


def test_adapters_fill_only_what_they_need_of_the_bucket():
    lora = changed(START, recipe="lora", zero_stage=2).training
    assert passing(lora) == {"bucket of whole gradients": "2 × 207,093,760"}  # rank 16 on every matrix of a 70B
