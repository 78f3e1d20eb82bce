"""Read a trace: what was uploaded is split, named and explained; what cannot be read is refused in words."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.trace.examples import Example
from tests.pages.conftest import OpenPage
from tests.trace.build import MATMUL, as_bytes, call, gpu, packed, recording, step
from views._ui import place, trace_view

PAGE = "views/gpu/trace.py"
RANKS = {f"rank{rank}.json.gz": packed(as_bytes(recording(rank), rank, 2)) for rank in range(2)}
# The host launches the next kernel long after the last has ended.
LATE = [
    step(0, 0, 1000),
    *(call(100 * k, 5, k + 1) for k in range(10)),
    *(gpu(100 * k + 8, 10, MATMUL, launch=k + 1) for k in range(10)),
]


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    monkeypatch.delenv(place.ALLOW, raising=False)
    before = st.get_option("server.address")
    st.config.set_option("server.address", "localhost")
    yield
    st.config.set_option("server.address", before)


def says(at: AppTest) -> str:
    kinds = (at.markdown, at.error, at.warning, at.info, at.caption, at.header, at.subheader)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "").replace("\u2060", "")


def sent(at: AppTest) -> str:
    return "\n".join(str(proto) for node in at._tree if (proto := getattr(node, "proto", None)) is not None)


def upload(at: AppTest, files: dict[str, bytes]) -> AppTest:
    box = at.file_uploader(key="trace.upload")
    box.set_value([(name, data, "application/octet-stream") for name, data in files.items()])
    return at.run()


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize("files", [RANKS, {"job.zip": zipped(RANKS)}], ids=["two files", "a zip of both"])
def test_two_ranks_are_split_and_shown(open_page: OpenPage, files):
    at = upload(open_page(PAGE), files)
    assert not at.exception
    words = says(at)
    assert "2 ranks · 2 GPUs" in words
    for heading in ("Where the time went", "Step by step", "Kernels", "Collectives", "Launches"):
        assert heading in words
    assert at.selectbox(key="trace.gpu").options == ["rank 0", "rank 1"]
    assert MATMUL[:32] in sent(at)


def test_the_limit_is_named_with_its_evidence_and_the_step_to_read(open_page: OpenPage):
    at = upload(open_page(PAGE), {"trace.json": as_bytes(LATE)})
    words = says(at)
    assert "Launch overhead binds: the GPU waits for the host." in words
    assert "Waiting for launches: 89% of the time" in words  # nine gaps of 90 us in 910 us
    assert "a CUDA graph" in words
    assert "Read step 4: Tile attention" in sent(at)


def test_another_gpu_and_another_rank_can_be_chosen(open_page: OpenPage):
    at = upload(open_page(PAGE), RANKS)
    before = sent(at)
    at = at.selectbox(key="trace.gpu").set_value(1).run()
    at = at.selectbox(key="trace.rank").set_value(1).run()
    assert not at.exception
    assert sent(at) != before


def test_a_single_gpu_without_steps_is_shown_as_a_whole(open_page: OpenPage):
    at = upload(open_page(PAGE), {"trace.json": as_bytes([gpu(0, 10), gpu(20, 10)])})
    assert not at.exception
    assert "Step by step" not in says(at)
    assert "1 rank · 1 GPU" in says(at)


def test_a_part_is_kept_and_marked(open_page: OpenPage):
    whole = RANKS["rank0.json.gz"]
    at = upload(open_page(PAGE), {"rank0.json.gz": whole[: len(whole) // 2]})
    assert not at.exception
    assert "the gzip file is cut off. What stands before that is kept" in says(at)
    assert "1 of the job's 2 ranks were given" in says(at)
    assert "Where the time went" in says(at)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.json", b"", "is not a PyTorch profiler trace"),
        ("text.json", b"hello", "is not a PyTorch profiler trace"),
        ("no_gpu.json", as_bytes([call(0, 5, 1)]), "no GPU event"),
        ("damaged.zip", b"PK\x03\x04 and no more", "damaged zip"),
        ("head.json.gz", gzip.compress(as_bytes(LATE), mtime=0)[:12], "Upload it again"),
        ("list.json", json.dumps({"traceEvents": 3}).encode(), "no traceEvents"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(open_page: OpenPage, name, data, words):
    at = upload(open_page(PAGE), {name: data})
    assert not at.exception
    assert [error for error in at.error if words in error.value.replace("\\", "").replace("\u2060", "")]
    assert "Where the time went" not in says(at)


def test_a_bomb_is_stopped_at_the_limit(open_page: OpenPage, monkeypatch):
    monkeypatch.setattr(trace_view, "MAX_BYTES", 1_000_000)
    bomb = gzip.compress(b'{"traceEvents": [' + b" " * 5_000_000)
    at = upload(open_page(PAGE), {"bomb.json.gz": bomb})
    assert not at.exception
    assert "too large" in says(at)


def test_a_bad_upload_leaves_the_last_trace_in_place(open_page: OpenPage):
    at = upload(open_page(PAGE), RANKS)
    at = upload(at, {"text.json": b"hello"})
    assert at.error
    assert "2 ranks · 2 GPUs" in says(at)


def test_a_file_is_read_once(open_page: OpenPage, monkeypatch):
    read = []
    real = trace_view.read_trace
    monkeypatch.setattr(trace_view, "read_trace", lambda *a, **k: read.append(1) or real(*a, **k))
    at = upload(open_page(PAGE), RANKS)
    at.selectbox(key="trace.gpu").set_value(1).run()
    assert len(read) == 1


@pytest.mark.parametrize(("address", "server", "mb"), [("localhost", 500, 500), ("localhost", 50, 50), (None, 500, 20)])
def test_a_hosted_server_takes_smaller_files_and_none_more_than_it_can(open_page: OpenPage, address, server, mb):
    before = st.get_option("server.maxUploadSize")
    st.config.set_option("server.maxUploadSize", server)
    st.config.set_option("server.address", address)
    try:
        at = open_page(PAGE)
    finally:
        st.config.set_option("server.maxUploadSize", before)
    assert f"up to {mb} MB each" in at.file_uploader(key="trace.upload").label
    assert at.file_uploader(key="trace.upload").proto.max_upload_size_mb == mb
    assert trace_view.unpacked_limit() == (1_000_000_000 if address else 250_000_000)


def test_recorded_traces_are_offered(open_page: OpenPage, monkeypatch, tmp_path):
    paths = []
    for name, data in RANKS.items():
        paths.append(tmp_path / f"training-{name}")
        paths[-1].write_bytes(data)
    shipped = {"training": Example("training", tuple(paths), {"what": "a made-up run", "date": "2026-11-30"})}
    monkeypatch.setattr(trace_view, "examples", lambda: shipped)
    at = open_page(PAGE)
    at = next(button for button in at.button if button.label == "Training on two GPUs").click().run()
    assert not at.exception
    assert "**Training on two GPUs** · 2 ranks · 2 GPUs · a made-up run · 2026-11-30" in says(at)


def test_without_recorded_ones_nothing_is_offered(open_page: OpenPage, monkeypatch):
    monkeypatch.setattr(trace_view, "examples", dict)
    assert "recorded one" not in says(open_page(PAGE))


def test_the_training_example_names_its_waiting_and_its_kernels(open_page: OpenPage):
    at = open_page(PAGE)
    at = next(button for button in at.button if button.label == "Training on two GPUs").click().run()
    assert not at.exception
    words = says(at)
    assert "Communication binds" in words
    assert "Kernels take 43% in all" in words
    assert "Then compute kernels, 43%." in words
    assert "Read step 3: Cut communication" in sent(at)
    assert "Then step 1: Find the bottleneck" in sent(at)


def test_a_refusal_goes_with_its_file(open_page: OpenPage):
    at = upload(open_page(PAGE), {"notes.json": b"hello"})
    assert "notes.json is not a PyTorch profiler trace" in says(at)
    assert "notes.json" not in says(upload(at, {}))


def test_a_visitor_does_not_wait_without_end_for_anothers_trace(open_page: OpenPage, monkeypatch):
    monkeypatch.setattr(trace_view, "WAIT_SECONDS", 0.1)
    with trace_view._ONE_AT_A_TIME:
        at = upload(open_page(PAGE), RANKS)
        assert not at.exception
        assert "another one was not done after 100 ms. Nothing of yours was read" in says(at)
        assert "Where the time went" not in says(at)
    at = upload(at, RANKS)
    assert "Where the time went" in says(at)
    assert "Nothing of yours was read" not in says(at)
    assert not trace_view._ONE_AT_A_TIME.locked()
