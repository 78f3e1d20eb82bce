"""The sheets of steps 4 and 5 in docs/worked, worked on paper from papers, configs and datasheets, against the core."""

from functools import reduce
from operator import add

import pytest

from core import attention, attention_kinds, batch, batch_levers, batch_questions, batch_token, bottleneck_verdict
from core.attention_questions import score_size
from core.decode_launches import launch_rows
from core.hardware import load_accelerators, load_links
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import Scenario, build, changed
from core.scenario_link import default_scenario
from core.verdict import finding

# Each number is the sheet's "by hand" one, to as many digits as it is worked there.
DIGITS = 5e-4


def on(model: str, gpu: str, **values: object) -> Scenario:
    links = load_links()
    return build(
        load_models()[model], load_accelerators()[gpu], links["nvlink-4"], links["infiniband-ndr"], dict(values)
    )


def preset(name: str) -> Scenario:
    return load_presets()[name].scenario()


def gemma() -> Scenario:
    values = {"seq_len": 32_768, "serving_tensor_parallel": 1, "context_len": 32_768, "batch": 4}
    return on("google/gemma-3-27b-pt", "h100-sxm", **values)


# Sheet: scenario; unfused, tiled without caches, each operand once; held unfused, held tiled [bytes].
IO = {
    1: (default_scenario, 24_075_304_960, 5_481_955_328, 455_081_984, 4_362_076_160, 68_157_440),
    2: (lambda: preset("megatron-1t-3072"), 2_002_780_160, 978_288_640, 157_614_080, 348_651_520, 13_271_040),
    3: (
        lambda: preset("deepseek-v3-h800"),
        49_257_906_176,
        17_263_755_264,
        2_017_460_224,
        8_724_152_320,
        136_314_880,
    ),
    4: (gemma, 758_330_163_200, 159_408_717_824, 2_424_307_712, 137_707_388_928, 272_629_760),
    5: (lambda: preset("8b-on-24gb"), 3_078_619_136, 1_518_862_336, 126_353_408, 553_648_128, 17_039_360),
}
# FLOPs unfused, FLOPs tiled without a mask; times unfused, causal, without a mask [s]; rows of a tile, tiles of keys.
TIMES = {
    1: (1.6493e12, 1.9241e12, 7.187e-3, 972.6e-6, 1.9448e-3, 227, 19),
    2: (1.6106e11, 1.8790e11, 982.2e-6, 301.3e-6, 602.3e-6, 130, 16),
    3: (4.1232e12, 4.9478e12, 14.704e-3, 2.5010e-3, 5.0008e-3, 181, 23),
    4: (5.2777e13, 6.1573e13, 226.37e-3, 31.117e-3, 62.232e-3, 227, 145),
    5: (2.0616e11, 2.4052e11, 3.0542e-3, 728.3e-6, 1.4559e-3, 99, 21),
}
# All layers: time unfused, time causal [s]; no mask, without caches [bytes].
ALL_LAYERS = {
    1: (80 * 7.187e-3, 80 * 972.6e-6, 80 * 10.370e9),
    2: (128 * 982.2e-6, 128 * 301.3e-6, 128 * 1.7721e9),
    3: (61 * 14.704e-3, 61 * 2.5010e-3, 61 * 32.166e9),
    4: (62 * 226.37e-3, 410.72e-3, 62 * 315.84e9),
    5: (32 * 3.0542e-3, 32 * 728.3e-6, 32 * 2.8768e9),
}
# Bytes that a token adds: as it is, all heads, one head, one latent, a latent with an index key.
KINDS = {
    1: (327_680, 2_621_440, 40_960, 92_160, 112_640),
    2: (13_107_200, 13_107_200, 81_920, 147_456, 180_224),
    3: (70_272, 3_997_696, 31_232, 70_272, 85_888),
    4: (507_904, 1_015_808, 31_744, 71_424, 87_296),
    5: (131_072, 524_288, 16_384, 36_864, 45_056),
}
# Kernels of a decode step, plain and fused; the GPU's work [s].
LAUNCHES = {
    1: (3_850, 803, 6.985e-3),
    2: (2_563, 1_155, 177.9e-3),
    3: (5_074, 1_150, 36.08e-3),
    4: (4_970, 871, 19.89e-3),
    5: (1_546, 323, 19.20e-3),
}


@pytest.mark.parametrize("sheet", IO)
def test_traffic_and_memory_of_attention(sheet):
    scenario, unfused, tiled, least, held, held_tiled = IO[sheet]
    here = attention.headline_of(scenario().training)
    assert here.unfused_bytes == unfused
    assert here.tiled_bytes == pytest.approx(tiled, rel=1e-9)
    assert here.least_bytes == least
    assert (here.unfused_extra_bytes, here.tiled_extra_bytes) == (held, held_tiled)


@pytest.mark.parametrize("sheet", TIMES)
def test_flops_times_and_tiles_of_attention(sheet):
    run = IO[sheet][0]().training
    flops, flops_tiled, unfused_s, causal_s, no_mask_s, rows, tiles = TIMES[sheet]
    sweep, at_rows = attention.over_seq_len(run), attention.over_tile_rows(run)
    at = sweep.seq_len.index(run.seq_len)
    unfused, causal, whole = (sweep.both(method) for method in ("unfused", "tiled", "tiled, no mask"))
    assert [unfused.flops[at], whole.flops[at]] == pytest.approx([flops, flops_tiled], rel=DIGITS)
    assert [cost.time_s[at] for cost in (unfused, causal, whole)] == pytest.approx(
        [unfused_s, causal_s, no_mask_s], rel=DIGITS
    )
    assert (at_rows.limit_rows, -(-run.seq_len // (at_rows.limit_rows))) == (rows, tiles)


@pytest.mark.parametrize("sheet", ALL_LAYERS)
def test_all_layers_of_attention(sheet):
    run = IO[sheet][0]().training
    sweep = attention.over_seq_len(run)
    at = sweep.seq_len.index(run.seq_len)
    unfused, causal, whole = (
        reduce(add, (part[method] for part in (sweep.all_forward, sweep.all_backward)))
        for method in ("unfused", "tiled", "tiled, no mask")
    )
    found = [unfused.time_s[at], causal.time_s[at], whole.moved_bytes[at]]
    assert found == pytest.approx(ALL_LAYERS[sheet], rel=DIGITS)


@pytest.mark.parametrize("sheet", KINDS)
def test_a_token_in_each_kind_of_attention(sheet):
    found = {kind.name: kind for kind in attention_kinds.kinds(IO[sheet][0]().model)}
    names = ("as it is", "MHA", "MQA", "MLA", "sparse")
    assert tuple(found[name].first_token_bytes for name in names) == KINDS[sheet]


def test_caches_at_32768_tokens():
    of_70b, of_gemma = ({kind.name: kind for kind in attention_kinds.kinds(IO[sheet][0]().model)} for sheet in (1, 4))
    assert of_70b["sliding"].cache_bytes == 4_096 * 327_680
    assert of_70b["linear"].state_bytes == 80 * 4 * (64 * 128**2 + 9 * 64 * 128)
    assert of_70b["sparse"].read_bytes == 2 * 80 * (2_048 * 576 + 32_768 * 128)
    assert of_gemma["as it is"].token_bytes == 81_920
    assert of_gemma["as it is"].cache_bytes == 8_192 * (10 * 32_768 + 52 * 1_024)


@pytest.mark.parametrize("sheet", LAUNCHES)
def test_kernels_of_a_decode_step(sheet):
    plain, fused, work_s = LAUNCHES[sheet]
    eager, graph, few, both = launch_rows(IO[sheet][0]().serving)
    assert (eager.kernels, few.kernels) == (plain, fused)
    assert [row.queue_s for row in (eager, graph, few, both)] == pytest.approx(
        [plain * 10e-6, plain * 1.1e-6, fused * 10e-6, fused * 1.1e-6]
    )
    assert eager.work_s == pytest.approx(work_s, rel=DIGITS)


def test_the_first_question_of_step_4():
    question = score_size("GB")
    assert (question.size_bytes, question.traffic_bytes) == (2 * 65_536**2, 8 * 65_536**2)


def deepseek() -> Scenario:
    return on("deepseek-ai/DeepSeek-V3", "h200-sxm", weight_dtype="fp8", context_len=8_192, batch=64)


SERVED = {
    1: default_scenario,
    2: lambda: preset("gpt3-175b-serving"),
    3: deepseek,
    4: gemma,
    5: lambda: changed(preset("8b-on-24gb"), weight_dtype="int4-g128", kv_dtype="fp8"),
}
# A request's cache, weights held, weights read [bytes a GPU]; most requests.
MEMORY = {
    1: (167_772_160, 17_640_734_720, 17_378_066_432, 351),
    2: (1_207_959_552, 43_677_944_832, 43_671_653_376, 27),
    3: (575_668_224, 85_119_449_088, 74_173_154_509, 87),
    4: (3_120_562_176, 54_018_692_608, 54_018_692_608, 7),
    5: (536_870_912, 5_809_643_520, 4_758_970_368, 32),
}
# Floors of one request and of the batch, estimate of the batch [s]; 32 against one; bend of the matrices [requests].
STEPS = {
    1: (5.2376e-3, 6.7901e-3, 13.477e-3, 24.68, 295.39),
    2: (22.011e-3, 30.897e-3, 42.371e-3, 17.445, 153.12),
    3: (1.3082e-3, 23.128e-3, 32.735e-3, 2.7258, 3_069.1),
    4: (17.057e-3, 19.851e-3, 24.675e-3, 11.883, 295.36),
    5: (5.2538e-3, 6.8516e-3, 8.8863e-3, 7.7245, 51.964),
}
# A million tokens, estimate and floor, at 2 an hour and half of the time; speed-up of 4 drafts at 0.8; what half a
# known prompt saves of the FLOPs [%] and of the cache [bytes a GPU].
TOKENS = {
    1: (3.7436, 1.8861, 2.8013, 49.06, 2_600_468_480),
    2: (23.539, 17.165, 2.8013, 49.66, 9_059_696_640),
    3: (4.5466, 3.2123, 2.5929, 43.32, 18_133_549_056),
    4: (6.8543, 5.5142, 2.8013, 48.76, 5_335_154_688),
    5: (2.4684, 1.9032, 2.8013, 46.67, 805_306_368),
}
# Weights of the whole model in fp8, int4-g128 and NF4 [bytes].
FORMATS = {
    1: (72.656e9, 40.570e9, 39.517e9),
    2: (175.262e9, 93.725e9, 91.050e9),
    3: (672.987e9, 359.363e9, 349.072e9),
    4: (28.420e9, 16.421e9, 16.027e9),
    5: (9.0812e9, 5.8096e9, 5.7023e9),
}
# Home: times of memory and of what comes next [s], its limit; the batch of the first fix, and its gain.
HOME = {
    1: (7.7584e-3, 3.1147e-3, "communication", 64, 1.6703),
    2: (35.361e-3, 3.8859e-3, "communication", 27, 1.4100),
    3: (26.485e-3, 2.8359e-3, "communication", 87, 1.1822),
    4: (22.656e-3, 0.33780e-3, "compute", 7, 1.5464),
    5: (7.8423e-3, 0.68618e-3, "compute", 8, 1.5640),
}


@pytest.mark.parametrize("sheet", MEMORY)
def test_memory_of_a_deployment(sheet):
    scenario = SERVED[sheet]()
    cache, held, read, most = MEMORY[sheet]
    memory, step = batch.memory_of(scenario.serving), batch.step_of(scenario)
    assert memory.kv_bytes / scenario.serving.batch == cache
    assert float(memory.weight_bytes) == pytest.approx(held, rel=1e-9)
    assert float(step.work.weight_bytes) == pytest.approx(read, rel=1e-9)
    assert batch.most_requests(scenario.serving) == most


@pytest.mark.parametrize("sheet", STEPS)
def test_floor_estimate_and_bend_of_a_step(sheet):
    scenario = SERVED[sheet]()
    one, floor, estimate, times, bend = STEPS[sheet]
    here, sweep = batch.headline_of(scenario), batch.over_batch(scenario)
    assert [sweep.alone.floor_s, here.floor_s, here.step_s] == pytest.approx([one, floor, estimate], rel=1e-4)
    requests = scenario.serving.batch
    assert [here.most_tokens_per_s, here.tokens_per_s] == pytest.approx(
        [requests / floor, requests / estimate], rel=1e-4
    )
    assert batch_questions.throughput_ratio(scenario.serving).times == pytest.approx(times, rel=2e-4)
    assert sweep.matrices_bend == pytest.approx(bend, rel=1e-4)
    assert sweep.step_bends == float("inf")


@pytest.mark.parametrize("sheet", TOKENS)
def test_price_speculation_and_prefix(sheet):
    scenario = SERVED[sheet]()
    price, floor, speedup, saved, saved_bytes = TOKENS[sheet]
    rows = batch_token.prices(batch.over_batch(scenario), scenario.serving, 2.0, 0.5)
    row = next(row for row in rows if row.batch == scenario.serving.batch)
    assert [row.estimate, row.floor] == pytest.approx([price, floor], rel=1e-4)
    drafts = batch_token.over_draft(scenario, 0.8, 0.05)
    assert drafts.tokens[3] == pytest.approx((1 - 0.8**5) / 0.2)
    assert drafts.speedup[3, drafts.batch.index(scenario.serving.batch)] == pytest.approx(speedup, rel=1e-4)
    hits = batch_token.prefix_hits(scenario)
    assert 100 * hits.saved_flops[2] == pytest.approx(saved, abs=0.006)
    assert hits.saved_bytes[2] == saved_bytes


@pytest.mark.parametrize("sheet", FORMATS)
def test_weights_in_other_formats(sheet):
    found = {one.name: one.weight_bytes for one in batch_levers.formats(SERVED[sheet]().serving)}
    assert [found[name] for name in ("fp8", "int4-g128", "nf4")] == pytest.approx(FORMATS[sheet], rel=3e-5)


def test_levers_and_paging():
    wasted = [row.wasted for row in batch_levers.reservations(SERVED[1]().serving)]
    assert wasted == pytest.approx([7.5 / 4103.5, 31.5 / 4127.5, 127.5 / 4223.5, 1 - 4096 / 131_072])
    assert {row.name: row.max_batch for row in batch_levers.levers(SERVED[2]().serving)}["twice the GPUs"] == 90
    of_gemma = {row.name: row.max_batch for row in batch_levers.levers(SERVED[4]().serving)}
    assert (of_gemma["half the context"], of_gemma["blocks for every token in every layer"]) == (12, 1)
    narrow = {one.name: one for one in batch_levers.formats(SERVED[5]().serving)}
    assert (narrow["bf16"].with_weights, narrow["int4-g128"].with_cache) == (12, 60)


@pytest.mark.parametrize("sheet", HOME)
def test_the_verdict_of_home_on_serving(sheet):
    memory_s, next_s, limit, requests, gain = HOME[sheet]
    found = finding(SERVED[sheet](), "serving")
    assert found.verdict.limit == "bandwidth"
    times = {pressure.limit: pressure.value for pressure in found.verdict.pressures}
    assert [times["bandwidth"], times[limit]] == pytest.approx([memory_s, next_s], rel=1e-4)
    assert max((t, name) for name, t in times.items() if name not in ("capacity", "bandwidth"))[1] == limit
    assert found.fix.fields == (("batch", requests),)
    assert found.fix.gain == pytest.approx(gain, rel=1e-4)


def test_the_verdict_of_home_on_training():
    scenario = default_scenario()
    training, _ = bottleneck_verdict.verdicts(scenario)
    matrices_s = 4_096 * (8 * 80 * 855_638_016 + 6 * 128_256 * 8_192) / (0.77 * 0.8 * 989.4e12)
    assert training.limit == "compute"
    assert 1 < next(p.value for p in training.pressures if p.limit == "compute") / matrices_s < 1.1  # attention on top
