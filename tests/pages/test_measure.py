"""Run on my GPU: off where others reach the server, in words where torch is missing, and every result drawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.microbench.job import ROOT, Progress
from core.microbench.recorded import names
from core.microbench.result import Result
from tests import fake_python
from tests.core.own_run import RESULT
from tests.core.test_measured_roofline import partial
from tests.pages.conftest import OpenPage
from views._ui import gpu_run, place, results

PAGE = "views/gpu/measure.py"


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    """A server that only this machine reaches, without a run before or after."""
    monkeypatch.delenv(place.ALLOW, raising=False)
    monkeypatch.delenv(gpu_run.PYTHON_VARIABLE, raising=False)
    before = st.get_option("server.address")
    st.config.set_option("server.address", "localhost")
    gpu_run.found.cache_clear()
    yield
    gpu_run.DESK.clear()
    gpu_run.found.cache_clear()
    st.config.set_option("server.address", before)


@pytest.fixture
def torch_here(monkeypatch, tmp_path):
    """A Python with a fake torch, in the mode that is asked for."""

    def install(mode: str = "good") -> None:
        monkeypatch.setenv(gpu_run.PYTHON_VARIABLE, fake_python.install(tmp_path, mode))

    return install


def says(at: AppTest) -> str:
    kinds = (at.markdown, at.error, at.warning, at.info, at.success, at.caption)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


def sent(at: AppTest) -> str:
    """Everything that the browser was sent, as text."""
    return "\n".join(str(proto) for node in at._tree if (proto := getattr(node, "proto", None)) is not None)


def press(at: AppTest, label: str) -> AppTest:
    return next(button for button in at.button if button.label == label).click().run()


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def upload(at: AppTest, data: bytes) -> AppTest:
    return at.file_uploader(key="measure.upload").upload("result.json", data, "application/json").run()


def open_tab(at: AppTest, name: str) -> AppTest:
    at.session_state["measure.tab"] = name
    return at.run()


def ended(at: AppTest) -> AppTest:
    end = time.monotonic() + 20
    while gpu_run.running():
        assert time.monotonic() < end
        time.sleep(0.05)
    return at.run()


@pytest.mark.parametrize(
    ("address", "word", "allowed"),
    [
        (None, None, False),
        ("0.0.0.0", None, False),
        ("::", None, False),
        ("example.org", None, False),
        ("unix:///tmp/app.sock", None, False),
        ("localhost", None, True),
        ("127.0.0.1", None, True),
        ("::1", None, True),
        (None, "1", True),
        ("0.0.0.0", "true", True),
        ("localhost", "0", False),
        ("localhost", "off", False),
        ("0.0.0.0", "perhaps", False),
    ],
)
def test_runs_are_on_where_only_this_machine_asks_or_as_configured(monkeypatch, address, word, allowed):
    st.config.set_option("server.address", address)
    if word is not None:
        monkeypatch.setenv(place.ALLOW, word)
    assert place.runs_allowed() is allowed


def test_the_secrets_may_say_so_and_the_environment_stands_above(monkeypatch, tmp_path):
    path = tmp_path / "secrets.toml"
    path.write_text(f'{place.ALLOW} = "1"\n')
    st.config.set_option("server.address", None)
    st.config.set_option("secrets.files", [str(path)])
    st.secrets._reset()
    try:
        assert place.runs_allowed()
        monkeypatch.setenv(place.ALLOW, "0")
        assert not place.runs_allowed()
    finally:
        st.config.set_option("secrets.files", [])
        st.secrets._reset()


def test_a_hosted_server_says_why_not_and_shows_what_is_recorded(open_page: OpenPage, torch_here):
    torch_here()
    st.config.set_option("server.address", None)
    at = open_page(PAGE)
    assert not at.exception
    assert "Runs are off here" in says(at)
    assert "make gpu" in says(at)
    assert "Measure" not in labels(at)
    assert at.selectbox(key="measure.result").options[0].startswith("Recorded: ")


def test_without_torch_it_says_what_to_install(open_page: OpenPage, monkeypatch):
    monkeypatch.setattr(gpu_run, "find_spec", lambda name: None)
    at = open_page(PAGE)
    assert "pip install -r requirements-gpu.txt" in says(at)
    assert "Measure" not in labels(at)
    assert "Look again" in labels(at)


def test_a_python_that_does_not_work_is_named(open_page: OpenPage, monkeypatch):
    monkeypatch.setenv(gpu_run.PYTHON_VARIABLE, "/nowhere/python")
    at = open_page(PAGE)
    assert "/nowhere/python cannot be started" in says(at)


def test_a_run_to_its_end_is_shown(open_page: OpenPage, torch_here):
    torch_here()
    at = open_page(PAGE)
    assert "No GPU: torch 2.13.0 was built without CUDA; install a CUDA build." in says(at)
    at = press(at, "Measure")
    assert "Cancel" in labels(at)
    assert "Measure" not in labels(at)
    at = ended(at)
    assert not at.exception
    assert "Measured in" in says(at)
    assert at.selectbox(key="measure.result").value == "run here"
    assert "Run on this server: Fake CPU" in at.selectbox(key="measure.result").options[0]


def test_another_session_sees_the_run_and_may_cancel_it(open_page: OpenPage, torch_here):
    torch_here("slow")
    press(open_page(PAGE), "Measure")
    other = open_page(PAGE)
    assert "Measure" not in labels(other)
    press(other, "Cancel")
    other = ended(other)
    assert "The run ended early: cancelled. What it had measured until then is kept" in says(other)
    assert "A partial result: cancelled." in says(other)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("crash", "CUDA error: an illegal memory access was encountered"),
        ("killed", "SIGKILL, as the system does when memory runs out"),
        ("refused", "Nothing was measured: the driver is too old for this torch."),
    ],
)
def test_what_goes_wrong_there_is_told_here(open_page: OpenPage, torch_here, mode, words):
    torch_here(mode)
    at = ended(press(open_page(PAGE), "Measure"))
    assert not at.exception
    assert words in says(at)
    assert "Measure" in labels(at), "another run may be started"
    kept = mode != "refused"
    assert ("Run on this server" in " ".join(at.selectbox(key="measure.result").options)) is kept


def test_a_stuck_item_is_longer_than_planned_and_not_a_second_from_its_end():
    stuck = Progress(item="attention", total=5, done=2, seconds_left=60.0, said_at=100.0)
    assert gpu_run.where(stuck, 110.0) == "2 of 5: attention · about 50.0 s left"
    assert gpu_run.where(stuck, 159.5) == "2 of 5: attention · about 1.00 s left"
    assert gpu_run.where(stuck, 161.0) == "2 of 5: attention · longer than planned"
    assert gpu_run.where(Progress(), 161.0) == "Starting: torch is loaded"


def test_the_operators_bound_shortens_a_run(open_page: OpenPage, torch_here, monkeypatch):
    torch_here("slow")
    monkeypatch.setenv(gpu_run.SECONDS_VARIABLE, "7")
    press(open_page(PAGE), "Measure")
    assert gpu_run.DESK.job.order.max_seconds == 7


TABS = {
    "Memory": "At the largest buffer copy: 4.00 TB/s, 83.3% of the datasheet.",
    "Attention": "the fused kernel is 9.0 times as fast at 512 tokens",
    "Launches": "From one tiny kernel to the next 9.00 us pass, launched one by one, 1.20 us inside a graph.",
    "Collectives": "11.5 us to start, then 300 GB/s from each GPU of the link's 450 GB/s",
    "Predict against measure": "The prediction never sees a step",
    "All numbers": "python -m core.microbench",
}


@pytest.mark.parametrize("tab", TABS)
def test_each_tab_has_the_numbers_of_the_run(open_page: OpenPage, tab):
    at = open_tab(upload(open_page(PAGE), RESULT.model_dump_json().encode()), tab)
    assert not at.exception
    assert TABS[tab] in says(at) + sent(at)
    others = [words for name, words in TABS.items() if name != tab]
    assert not any(words in says(at) for words in others), "closed tabs are not sent"


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("name", names())
def test_every_tab_of_every_recorded_result_opens(open_page: OpenPage, name, tab):
    at = open_page(PAGE)
    at = open_tab(at.selectbox(key="measure.result").set_value(name).run(), tab)
    assert not at.exception


def test_the_roofline_says_what_the_record_proves_of_its_best_product(open_page: OpenPage):
    at = open_page(PAGE)
    at = at.selectbox(key="measure.result").set_value("h200-full").run()
    assert "reached 672 TFLOP/s at 8,192 rows by 8,192 x 8,192" in says(at)
    assert "not the clock and power at which products ran" in says(at)


def test_a_run_that_stopped_after_two_products_claims_no_roof_below_its_plain_call(open_page: OpenPage):
    early = Result.model_validate(partial(2, slower=10.0))
    at = upload(open_page(PAGE), early.model_dump_json().encode())
    words = says(at)
    assert "A partial result: cancelled." in words
    assert "products with 1 of 4 planned weights measured: the best fp32 product reaches" in words
    assert "a plain call of the same run 33.7 GFLOP/s" in words
    assert "so the ridge really is" not in words


def test_peak_memory_is_predicted_where_it_was_counted(open_page: OpenPage):
    at = open_page(PAGE)
    at = open_tab(at.selectbox(key="measure.result").set_value("h200-full").run(), "Predict against measure")
    assert "Predicted from the layer's sizes alone" in says(at)
    assert "training, peak memory" in sent(at)
    at = open_tab(at.selectbox(key="measure.result").set_value("cpu-quick").run(), "Predict against measure")
    assert "The prediction never sees a step" in says(at)
    assert "training, peak memory" not in sent(at), "torch does not count a CPU's memory"


def test_an_uploaded_result_is_drawn_and_can_be_estimated_on(open_page: OpenPage):
    at = upload(open_page(PAGE), RESULT.model_dump_json().encode())
    assert "Opened: NVIDIA H200: full set, 2026-11-30." in says(at)
    assert at.selectbox(key="measure.result").value.startswith("my file ")
    assert "so the ridge really is at" in says(at)
    at = press(at, "Use as my accelerator")
    assert not at.exception
    assert "estimates from measured kernels of H200 SXM, own run" in says(at)
    assert "profile" not in at.query_params, "no link could bring it along"
    assert at.query_params["gpu"] == "h200-sxm"
    batch = at.switch_page("views/steps/batch.py").run()
    assert not batch.exception
    assert "estimates from measured kernels of H200 SXM, own run" in says(batch)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["measurements"][0]["time"].update(median_s=-1.0), "must be at least 1e-09"),
        (lambda d: d["measurements"][0]["time"].update(median_s=1e300), "must be at most 100,000"),
        (lambda d: d.update(format="microbench/9"), "Update the app"),
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d.clear(), "it does not say what it is"),
    ],
)
def test_a_result_that_no_run_wrote_is_refused_in_words(open_page: OpenPage, change, words):
    document = json.loads(RESULT.model_dump_json())
    change(document)
    at = upload(open_page(PAGE), json.dumps(document).encode())
    assert not at.exception
    assert words in says(at)
    assert at.selectbox(key="measure.result").value in names()


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"[" * 100_000, b'{"a": NaN}', b"hello"])
def test_what_is_no_json_is_refused_in_words(open_page: OpenPage, data):
    at = upload(open_page(PAGE), data)
    assert not at.exception
    assert ":red[" in says(at)


def upload_all(at: AppTest, **documents: object) -> AppTest:
    files = [(f"{name}.json", json.dumps(one).encode(), "application/json") for name, one in documents.items()]
    return at.file_uploader(key="measure.upload").set_value(files).run()


def part(*kinds: str, name: str = "NVIDIA H200", set_name: str = "full") -> dict[str, object]:
    document = json.loads(RESULT.model_dump_json())
    document["measurements"] = [one for one in document["measurements"] if one["kind"] in kinds]
    document["system"] |= {"name": name}
    document["run"] |= {"set": set_name}
    return document


def test_a_set_and_collectives_of_one_device_are_estimated_on_together(open_page: OpenPage):
    at = open_page(PAGE)
    single, links = part("copy", "matmul", "attention_decode"), part("collective", set_name="collectives")
    at = upload_all(at, full=single, links=links)
    assert not at.exception
    assert says(at).count("Opened: NVIDIA H200") == 2
    own = [option for option in at.selectbox(key="measure.result").options if option.startswith("Your file")]
    assert own == [
        "Your file: NVIDIA H200: full set, 2026-11-30",
        "Your file: NVIDIA H200: collectives set, 2026-11-30",
    ]
    assert at.selectbox(key="measure.result").index == 0, "of both the one with most to show"
    assert "Estimates take all your results on NVIDIA H200 together" in says(at)
    at = press(at, "Use as my accelerator")
    profile = at.session_state["profile.own"]
    assert profile.products
    assert profile.messages
    assert "The step pages estimate on it." in says(at)
    silicon = at.switch_page("views/gpu/profiles.py").run()
    assert "H200 SXM, own run: yours" in silicon.selectbox(key="profiles.one").options


def test_each_file_is_drawn_alone_and_another_device_stays_apart(open_page: OpenPage):
    at = upload_all(
        open_page(PAGE), full=part("copy", "matmul"), other=part("matmul", "collective", name="NVIDIA H100 80GB HBM3")
    )
    assert not at.exception
    assert "Estimates take all your results" not in says(at)
    at = press(at, "Use as my accelerator")
    assert at.session_state["profile.own"].file.accelerator == "h100-sxm", "the largest file is shown first"
    first = at.selectbox(key="measure.result").options[0]
    assert first.startswith("Your file: NVIDIA H200")
    at = at.selectbox(key="measure.result").select_index(0).run()
    assert "Use as my accelerator" in labels(at), "it is the other that pages estimate on"


def test_a_file_that_is_taken_out_or_refused_leaves_the_others(open_page: OpenPage):
    at = upload_all(open_page(PAGE), full=part("copy", "matmul"), bad={"format": "microbench/9"})
    assert "bad.json: This file is microbench/9" in says(at)
    assert says(at).count("Opened:") == 1
    at = upload_all(at, links=part("collective", set_name="collectives"))
    options = at.selectbox(key="measure.result").options
    assert [option for option in options if "Your file" in option] == [
        "Your file: NVIDIA H200: collectives set, 2026-11-30"
    ]
    assert "microbench/9" not in says(at)
    at = at.file_uploader(key="measure.upload").clear().run()
    assert not any("Your file" in option for option in at.selectbox(key="measure.result").options)


def test_files_stay_open_over_a_visit_to_another_page_and_more_may_come(open_page: OpenPage):
    at = upload_all(open_page(PAGE), full=part("copy", "matmul"))
    at = at.switch_page("views/gpu/profiles.py").run()
    at = at.switch_page(PAGE).run()
    assert not at.file_uploader(key="measure.upload").value
    at = upload_all(at, links=part("collective", set_name="collectives"))
    assert not at.exception
    assert sum("Your file" in option for option in at.selectbox(key="measure.result").options) == 2
    assert "Estimates take all your results on NVIDIA H200 together" in says(at)


def test_a_file_opened_twice_is_one_and_equal_titles_are_told_by_their_names(open_page: OpenPage):
    at = upload_all(open_page(PAGE), a=part("matmul"), b=part("matmul"), c=part("copy", "matmul"))
    own = [option for option in at.selectbox(key="measure.result").options if "Your file" in option]
    assert own == [f"Your file {name}.json: NVIDIA H200: full set, 2026-11-30" for name in ("a", "c")]


def test_a_reader_keeps_a_few_files_and_is_told_so(open_page: OpenPage):
    many = {f"r{at}": part("matmul", name=f"Card {at}") for at in range(results.MAX_FILES + 1)}
    at = upload_all(open_page(PAGE), **many)
    assert f"{results.MAX_FILES} files are open already. Take one out" in says(at)


def test_a_result_without_kernels_still_opens(open_page: OpenPage):
    document = json.loads(RESULT.model_dump_json())
    document["measurements"] = [one for one in document["measurements"] if one["kind"] == "copy"]
    at = upload(open_page(PAGE), json.dumps(document).encode())
    assert not at.exception
    assert "This result has none: no product was measured." in says(at)
    assert "Use as my accelerator" not in labels(at)


def test_a_device_that_the_catalog_does_not_have_cannot_be_estimated_on(open_page: OpenPage, torch_here):
    torch_here()
    at = ended(press(open_page(PAGE), "Measure"))
    assert "the catalog has no datasheet of Fake CPU" in says(at)
    assert "Use as my accelerator" not in labels(at)


def test_the_numbers_of_a_tab_can_be_read_as_a_table(open_page: OpenPage):
    at = upload(open_page(PAGE), RESULT.model_dump_json().encode())
    at.session_state["measure.roofline.table"] = True
    at = at.run()
    assert "6,144 x 4,096" in sent(at)


_RUN_AND_LEAVE = """
import sys
from core.microbench.job import Order
from views._ui.gpu_run import DESK
job = DESK.start(Order(python=sys.argv[1]))
while not job.version():
    job.wait(0.05)
"""


@pytest.mark.parametrize("mode", ["good", "slow"])
def test_a_server_that_ends_leaves_no_folder_behind(tmp_path, mode):
    ours = tmp_path / "temporary"
    ours.mkdir()
    interpreter = fake_python.install(tmp_path, mode)
    environment = os.environ | {"TMPDIR": str(ours), "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", _RUN_AND_LEAVE, interpreter],
        env=environment,
        check=True,
        timeout=60,
        capture_output=True,
    )
    assert list(ours.glob("microbench-*")) == []
