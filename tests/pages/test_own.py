"""Own cards: a zip in the bank's format joins the bank of the session; what is wrong with it is said in words."""

from __future__ import annotations

import io
import zipfile

from core.cards.scaffold import scaffold
from tests.pages.practice import Visit


def zipped(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return data.getvalue()


def upload(page: Visit, data: bytes) -> None:
    page.at.file_uploader(key="own.upload").upload("cards.zip", data, "application/zip").run()


def my_drill() -> dict[str, str]:
    place, text = scaffold("drill", "serving", "mine", {"serving"})
    return {f"folder/{place}": text}


def test_a_good_zip_joins_the_bank_and_can_be_taken_out():
    page = Visit("own")
    upload(page, zipped(**my_drill()))
    assert "In use from your zip: 1 card." in page.says()
    drills = page.at.switch_page("pages/practice/cards.py").run()
    assert "own" in " ".join(element.value for element in drills.markdown)
    page.at = page.at.switch_page("pages/practice/own.py").run()
    page.press("Remove the zip")
    assert "In use from your" not in page.says()


def test_a_fault_is_named_with_its_place_and_the_card_is_left_out():
    page = Visit("own")
    (place, text), *_ = my_drill().items()
    upload(page, zipped(**{place: text.replace("golden: 41.79", "golden: 12")}))
    assert "In use from your zip: 0 cards" in page.says()
    assert "golden" in page.payload()
    assert "drills/serving/mine.md:20" in page.payload()


def test_what_is_no_zip_is_refused_in_words():
    page = Visit("own")
    upload(page, b"not a zip")
    assert "cannot be read as a zip" in page.says().replace("\\", "")


def test_an_own_card_never_takes_the_place_of_a_shipped_one():
    page = Visit("own")
    (_, text), *_ = my_drill().items()
    stolen = text.replace("d-serving-mine", "d-serving-decode-tput")
    upload(page, zipped(**{"drills/serving/decode-tput.md": stolen}))
    assert "give yours another id" in page.payload()
