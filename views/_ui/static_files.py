"""Fill the folder that Streamlit serves beside app.py with files of installed packages; nothing in it is committed."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import importlib.util
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).resolve().parents[2] / "static"
# Streamlit serves this folder without Cache-Control, and a browser then keeps a file for about a tenth of its age.
# The name carries the version, so the file may look as old as it likes.
_LONG_AGO: Final = 946_684_800  # 2000-01-01, seconds since 1970


@functools.cache
def plotly_file() -> str:
    """Name of plotly.js in the static folder; a new plotly is a new name, so no browser shows the old one."""
    return f"plotly-{importlib.metadata.version('plotly')}.min.js"


def ensure_static(folder: Path = STATIC) -> None:
    """Copy plotly.js out of the installed wheel, unless it is there whole. Never raises: a chart says so."""
    source = _wheel_file()
    target = folder / plotly_file()
    with contextlib.suppress(OSError):
        if source and target.stat().st_size == source.stat().st_size:
            return
    try:
        if source is None:
            raise FileNotFoundError("plotly/package_data/plotly.min.js")
        folder.mkdir(exist_ok=True)
        _copy_whole(source, target)
    except OSError:
        logging.getLogger(__name__).exception("plotly.js could not be copied to %s; charts will not draw", folder)


def _wheel_file() -> Path | None:
    spec = importlib.util.find_spec("plotly")  # found, not imported: pages without a chart start faster
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


def _copy_whole(source: Path, target: Path) -> None:
    """Write beside the target, then rename: another process never serves half a file."""
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        shutil.copyfile(source, part)
        part.chmod(0o644)
        os.utime(part, (_LONG_AGO, _LONG_AGO))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
