"""The file of a profile: what is written is read, and what no measurement can have is refused."""

import json

import pytest
from pydantic import ValidationError

from core.hardware import load_accelerators
from core.measured_file import FORMAT, AttentionTable, CollectiveRow, ExpertTable, MatmulTable, ProfileFile, VectorRow
from core.measured_profile import PROFILES, load_profiles

MATMUL = {"dtype": "bf16", "kernel": "one", "n": [8], "k": [16], "m": [1, 2], "seconds": [[[1e-6, None]]]}
HEADS = {"heads": 8, "kv_heads": 1, "head_dim": 128}
ATTENTION = {
    "phase": "decode",
    "kv_dtype": "bf16",
    "kernel": "one",
    **HEADS,
    "batch": [1],
    "tokens": [1, 7],
    "seconds": [[1e-6, 2e-6]],
}
COLLECTIVE = {"op": "all_reduce", "ranks": 2, "num_bytes": [512, 1024], "seconds": [1e-6, 2e-6]}
EXPERTS = {
    "dtype": "bf16",
    "kernel": "one",
    "routing": "balanced",
    "hidden_size": 2048,
    "intermediate_size": 768,
    "num_experts": 128,
    "top_k": 8,
    "tensor_parallel": [1, 2],
    "tokens": [1, 8],
    "seconds": [[1e-5, 2e-5], [None, 1e-5]],
}
VECTOR = {"op": "norm", "direction": "forward", "num_bytes": [512], "seconds": [1e-6]}
WHOLE = {"format": FORMAT, "id": "a-card", "device": "A card", "source": "a test", "dated": "2026-11-30"}


@pytest.mark.parametrize("path", sorted(PROFILES.glob("*.json")), ids=lambda path: path.stem)
def test_every_file_of_the_catalog_names_its_source_its_licence_and_a_card(path):
    file = ProfileFile.model_validate_json(path.read_bytes())
    assert file.id == path.stem
    assert file.accelerator in load_accelerators()
    assert "AIConfigurator 0.12.0" in file.source
    assert (file.licence, file.own) == ("Apache-2.0", False)
    assert file.source_url is not None
    assert file.matmul
    assert {table.phase for table in file.attention} == {"decode", "prefill"}
    assert file.collectives


def test_all_of_them_stay_small():
    assert sum(path.stat().st_size for path in PROFILES.glob("*.json")) < 1.5e6
    assert len(load_profiles()) == 10


def test_a_file_survives_being_written_and_read():
    file = ProfileFile.model_validate(
        WHOLE
        | {
            "matmul": [MATMUL],
            "attention": [ATTENTION],
            "experts": [EXPERTS],
            "collectives": [COLLECTIVE],
            "vectors": [VECTOR],
        }
    )
    assert ProfileFile.model_validate_json(file.model_dump_json()) == file
    assert json.loads(file.model_dump_json())["matmul"][0]["seconds"] == [[[1e-6, None]]]


@pytest.mark.parametrize(
    ("model", "row", "change"),
    [
        (MatmulTable, MATMUL, {"m": [2, 1]}),
        (MatmulTable, MATMUL, {"m": [1]}),
        (MatmulTable, MATMUL, {"n": [8, 9]}),
        (MatmulTable, MATMUL, {"dtype": "fp5"}),
        (MatmulTable, MATMUL, {"seconds": [[[-1e-6, 1e-6]]]}),
        (MatmulTable, MATMUL, {"seconds": [[[1e300, 1e-6]]]}),
        (MatmulTable, MATMUL, {"seconds": [[[float("nan"), 1e-6]]]}),
        (AttentionTable, ATTENTION, {"batch": [1, 2]}),
        (AttentionTable, ATTENTION, {"tokens": [7, 1]}),
        (AttentionTable, ATTENTION, {"phase": "backward"}),
        (ExpertTable, EXPERTS, {"tokens": [1]}),
        (ExpertTable, EXPERTS, {"tensor_parallel": [1]}),
        (ExpertTable, EXPERTS, {"tensor_parallel": [2, 1]}),
        (ExpertTable, EXPERTS, {"dtype": "int2"}),
        (CollectiveRow, COLLECTIVE, {"ranks": 1}),
        (CollectiveRow, COLLECTIVE, {"seconds": [1e-6]}),
        (CollectiveRow, COLLECTIVE, {"num_bytes": [512, 512]}),
        (CollectiveRow, COLLECTIVE, {"op": "gossip"}),
        (VectorRow, VECTOR, {"seconds": []}),
        (VectorRow, VECTOR, {"num_bytes": [0]}),
        (ProfileFile, WHOLE, {"format": "measured-profile/2"}),
        (ProfileFile, WHOLE, {"id": "A card"}),
        (ProfileFile, WHOLE, {"launch_s": 0}),
        (ProfileFile, WHOLE, {"surprise": 1}),
    ],
)
def test_what_no_measurement_can_have_is_refused(model, row, change):
    model.model_validate(row)
    with pytest.raises(ValidationError):
        model.model_validate(row | change)
