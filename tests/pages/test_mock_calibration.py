"""Calibrating oneself: nothing of the authors' scores is sent before all three answers are scored."""

from __future__ import annotations

from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from core.mock.calibrating import compared, scripted
from core.mock.reading import CalibrationAnswers
from tests.core.mock.made import ITEMS, PACK, bank
from tests.pages.practice import APP, _sent
from views._ui.mock_calibration import answers, severity_in_words

JUDGED = "lean hire"


class Calibration:
    """A visit to the page with one pack chosen."""

    def __init__(self, pack: str = PACK) -> None:
        self.pack = pack
        self.at = AppTest.from_file(str(APP), default_timeout=60).run()
        self.at.session_state["calibration.pack"] = pack
        self.at.switch_page("views/mock/calibration.py").run()
        assert not self.at.exception, self.at.exception

    @property
    def scripted(self) -> CalibrationAnswers:
        return answers()[self.pack]

    def says(self) -> str:
        kinds = (self.at.markdown, self.at.subheader, self.at.title)
        return "\n".join(str(element.value) for kind in kinds for element in kind)

    def sent(self) -> str:
        return unescape("\n".join(_sent(self.at._tree))).replace("\\", "")

    def press(self, label: str) -> None:
        next(button for button in self.at.button if button.label.startswith(label)).click().run()
        assert not self.at.exception, self.at.exception

    def number(self) -> int:
        """Which of the three answers is on the page."""
        _, texts = scripted(self.scripted, bank())
        said = self.says()
        return next(text.number for text in texts if text.text[:80] in said)

    def score(self, level: int) -> int:
        number = self.number()
        for radio in self.at.radio:
            radio.set_value(JUDGED if radio.key.endswith(".overall") else level)
        self.press("Commit these scores")
        return number


@pytest.mark.parametrize("pack", answers())
def test_every_pack_has_answers_to_score(pack: str):
    page = Calibration(pack)
    assert "Answer 1 of 3" in page.says()
    assert page.at.selectbox(key="calibration.pack").value == pack


def test_scores_reasons_and_names_are_not_sent_before_all_three_are_scored():
    page = Calibration()
    secrets = [score.why for answer in page.scripted.model.answers().values() for score in answer.scores.values()]
    secrets += [answer.why for answer in page.scripted.model.answers().values()]
    seen = []
    for _ in range(3):
        sent = page.sent()
        assert [secret for secret in secrets if secret in sent] == []
        assert "the weak one" not in sent
        seen.append(page.score(3))
    assert sorted(seen) == [0, 1, 2]
    said = page.says()
    assert all(f"the {name} one" in said for name in ("weak", "mixed", "strong"))
    assert [secret for secret in secrets if secret not in page.sent()] == []


def test_a_missing_score_is_refused_in_words():
    page = Calibration()
    page.press("Commit these scores")
    assert "Score every item" in page.says()
    assert "Answer 1 of 3" in page.says()


def test_differences_and_severity_are_those_of_core():
    page = Calibration()
    for _ in range(3):
        page.score(2)
    own = {number: dict.fromkeys(ITEMS, 2) for number in range(3)}
    _, offset = compared(page.scripted, bank(), own)
    assert offset is not None
    assert page.at.metric[0].value == f"{offset:+.2f}"
    wide = [item for row in compared(page.scripted, bank(), own)[0] for item in row.items if item.wide]
    assert page.says().count("levels apart") == len(wide) > 0
    assert f"All in all you said **{JUDGED}**" in page.says()


def test_it_can_be_done_again_from_the_start():
    page = Calibration()
    for _ in range(3):
        page.score(1)
    page.press("Score them again")
    assert "Answer 1 of 3" in page.says()


@pytest.mark.parametrize(
    ("offset", "word"), [(0.0, "as the authors"), (0.2, "as the authors"), (0.5, "milder"), (-1.0, "stricter")]
)
def test_an_offset_in_words(offset: float, word: str):
    assert word in severity_in_words(offset)
