"""Own cards: a zip in the bank's format joins the bank of the session; what is wrong with it is said in words."""

from __future__ import annotations

import io
import zipfile

import pytest

from core.cards.draw import drawn_values
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
    drills = page.at.switch_page("views/practice/cards.py").run()
    assert "own" in " ".join(element.value for element in drills.markdown)
    page.at = page.at.switch_page("views/practice/own.py").run()
    page.press("Remove the zip")
    assert "In use from your" not in page.says()


def test_a_fault_is_named_with_its_place_and_the_card_is_left_out():
    page = Visit("own")
    (place, text), *_ = my_drill().items()
    upload(page, zipped(**{place: text.replace("golden: 41.79", "golden: 12")}))
    assert "In use from your zip: 0 cards" in page.says()
    assert "golden" in page.payload()
    assert "drills/serving/mine.md:20" in page.payload()


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"not a zip", "cannot be read as a zip"), (b"", "is empty"), (b"x" * 2_500_000, "2 MB are read")],
)
def test_what_is_no_zip_is_refused_in_words_and_the_cards_stay(data, words):
    page = Visit("own")
    upload(page, zipped(**my_drill()))
    upload(page, data)
    assert words in page.says().replace("\\", "")
    assert "In use from your zip: 1 card." in page.says()
    upload(page, zipped(**my_drill()))
    assert words not in page.says().replace("\\", "")


def test_a_source_of_an_own_card_is_shown_as_it_is_written_and_calls_no_other_host():
    page = Visit("own")
    (place, text), *_ = my_drill().items()
    source = "my-src: {title: 'A](https://a.example) ![b](https://b.example/b.png', url: 'https://c.example/c>![d](e', "
    source += "year: 2020, kind: paper, supports: something}"
    text = text.replace("[scaling-book-inference]", "[my-src]")
    upload(page, zipped(**{place: text, "sources/mine.yaml": source}))
    page.at = page.at.switch_page("views/practice/drills.py")
    page.at.query_params["card"] = "d-serving-mine"
    page.at.query_params["seed"] = "1"
    page.at.run()
    page.press("I do not know")
    assert r"[A\]\(" in page.says()
    assert "(<https://c.example/c%3E!%5Bd%5D(e>), 2020" in page.says()


def test_numbers_that_the_check_has_not_seen_are_refused_in_words():
    page = Visit("own")
    (place, text), *_ = my_drill().items()
    text = text.replace("size: {choices: [140, 70]", "size: {range: [100, 5000], step: 1")
    upload(page, zipped(**{place: text.replace("A kernel reads", "{{ 1/(size - 4000) | 2g }}. A kernel reads")}))
    card = next(iter(page.at.session_state["bank.own"].values()))
    unlucky = next(seed for seed in range(200_000) if drawn_values(card, seed)["size"] == 4000)
    page.at = page.at.switch_page("views/practice/drills.py")
    page.at.query_params["card"] = card.id
    page.at.query_params["seed"] = str(unlucky)
    page.at.run()
    assert not page.at.exception
    assert "cannot be put into" in page.says()
    assert "Commit" in page.labels()


def test_an_own_card_never_takes_the_place_of_a_shipped_one():
    page = Visit("own")
    (_, text), *_ = my_drill().items()
    stolen = text.replace("d-serving-mine", "d-serving-decode-tput")
    upload(page, zipped(**{"drills/serving/decode-tput.md": stolen}))
    assert "give yours another id" in page.payload()
