"""plotly.js is copied whole out of the installed package, and only when it has to be."""

import logging

import plotly

from views._ui.static_files import ensure_static, plotly_file


def test_the_name_carries_the_version():
    assert plotly_file() == f"plotly-{plotly.__version__}.min.js"


def test_it_is_copied_once(tmp_path):
    folder = tmp_path / "static"
    ensure_static(folder)
    (copy,) = folder.iterdir()
    assert copy.name == plotly_file()
    assert copy.stat().st_size > 1_000_000
    first = copy.stat().st_ino
    ensure_static(folder)
    assert copy.stat().st_ino == first


def test_half_a_file_is_replaced(tmp_path):
    half = tmp_path / plotly_file()
    half.write_text("half")
    ensure_static(tmp_path)
    assert half.stat().st_size > 1_000_000
    assert list(tmp_path.iterdir()) == [half]


def test_a_folder_that_cannot_be_written_is_logged_not_raised(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.ERROR):
        ensure_static(tmp_path / "file" / "static")
    assert "charts will not draw" in caplog.text
