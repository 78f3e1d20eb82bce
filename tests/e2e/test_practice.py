"""Practice in a real browser: the first visit from a guess to an import, reload, two tabs, what the wire carries."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from core.cards.draw import draw
from core.cards.library import load_cards
from core.cards.scaffold import scaffold
from core.cards.text import significant
from core.progress.document import Progress
from core.progress.reading import to_json
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle
from tests.e2e.test_home import PHONE, commit, scrolls_sideways
from tests.pages.test_review import log_of

CARDS = load_cards()
DRILL, MCQ, QUESTION = "d-serving-decode-tput", "m-bottleneck-gap-cause", "q-bottleneck-mfu-35-hfu-62"
PAGES = (
    "/review",
    "/cards",
    f"/cards?card={QUESTION}&seed=0",
    f"/drills?card={DRILL}&seed=3",
    "/quiz",
    "/progress",
    "/own-cards",
)


def answer_drill(page: Page, seed: int = 3) -> None:
    """Type the truth, say how sure, press Enter."""
    box = page.get_by_label("Your answer")
    page.get_by_role("radio", name="90%").locator("visible=true").first.click(force=True)
    box.fill(f"{draw(CARDS[DRILL], seed).answer:.1f}")
    box.press("Enter")
    expect(page.get_by_text("Right").first).to_be_visible()
    wait_saved(page)


def wait_saved(page: Page) -> None:
    """Until the browser holds what was answered."""
    wait_idle(page)
    page.wait_for_timeout(300)


def go(page: Page, path: str) -> None:
    page.goto(path)
    wait_idle(page)


def wait_stored(page: Page, least: int) -> None:
    """Until the browser holds so many answers, for ten seconds at most."""
    for _ in range(50):
        if len(stored(page)["attempts"]) >= least:
            return
        page.wait_for_timeout(200)


def stored(page: Page) -> dict:
    """The document that this browser keeps."""
    text = page.evaluate(
        """() => new Promise((resolve, reject) => {
          const open = indexedDB.open("ridgepoint", 1);
          open.onerror = () => reject(open.error);
          open.onsuccess = () => {
            const get = open.result.transaction("texts").objectStore("texts").get("progress");
            get.onsuccess = () => { resolve(get.result ? get.result.text : null); open.result.close(); };
          };
        })"""
    )
    return json.loads(text) if text else {"attempts": []}


def test_a_first_visit_from_guess_to_import(app: OpenPage, tmp_path: Path):
    page = app("/")
    commit(page)
    wait_stored(page, 1)
    assert [attempt["card_id"] for attempt in stored(page)["attempts"]] == ["home.kv"]

    go(page, f"/drills?card={DRILL}&seed=3")
    answer_drill(page)
    go(page, f"/quiz?card={MCQ}&seed=1")
    right = next(option.text for option in CARDS[MCQ].model.options if option.correct)
    page.get_by_text(right, exact=True).click()
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("Right").first).to_be_visible()
    wait_saved(page)
    go(page, "/review")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I do not know").or_(
        page.get_by_role("button", name="Skip to the strong")
    ).first.click()
    wait_saved(page)
    attempts = stored(page)["attempts"]
    assert len(attempts) >= 3

    go(page, "/progress")
    with page.expect_download() as started:
        page.get_by_role("button", name="Export progress").click()
    file = tmp_path / "progress.json"
    started.value.save_as(file)
    wait_saved(page)

    other = app("/progress")  # another browser that has nothing yet
    expect(other.get_by_text("Nothing yet.")).to_be_visible()
    other.get_by_text("Import a file").click()
    other.locator("input[type=file]").first.set_input_files(file)
    expect(other.get_by_text(re.compile(f"{len(attempts)} new answers"))).to_be_visible()
    other.get_by_role("button", name="Merge into my progress").click()
    wait_saved(other)
    assert stored(other)["attempts"] == stored(page)["attempts"]
    expect(other.locator(".rp-map")).to_be_visible()
    assert other.locator(".rp-map").inner_text() == page.locator(".rp-map").inner_text()


def test_a_reload_after_an_answer_keeps_it(app: OpenPage):
    page = app(f"/drills?card={DRILL}&seed=3")
    answer_drill(page)
    page.reload()
    wait_idle(page)
    go(page, "/progress")
    expect(page.get_by_text("The last 1 of 1 answers")).to_be_visible()


def test_a_permalink_shows_the_same_numbers_in_another_browser(app: OpenPage):
    page = app(f"/drills?card={DRILL}")
    other = app(page.url.split("127.0.0.1", 1)[1].split("/", 1)[1].join(["/", ""]))
    prompt = page.get_by_text("A decode step reads").inner_text()
    expect(other.get_by_text("A decode step reads")).to_have_text(prompt)
    page.get_by_role("button", name="New numbers").click()
    wait_idle(page)
    assert page.get_by_text("A decode step reads").inner_text() != prompt


def frames_received(page: Page) -> list[bytes]:
    """Fills with what the server sends to this page from its next load on."""
    received: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: received.append(frame if isinstance(frame, bytes) else frame.encode()))

    page.on("websocket", listen)
    return received


def test_the_wire_carries_no_answer_before_the_commit(app: OpenPage):
    page = app("/settings")
    received = frames_received(page)
    variant = draw(CARDS[DRILL], 3)
    go(page, f"/drills?card={DRILL}&seed=3")
    secrets = [
        significant(variant.answer, 4),
        variant.card.sections["Why it matters"][:50],
        variant.card.model.partial[0].say[:50],
    ]
    go_on = b"".join(received)
    assert variant.card.title.encode() in go_on
    assert [secret for secret in secrets if secret.encode() in go_on] == []

    go(page, f"/cards?card={QUESTION}&seed=0")
    question = draw(CARDS[QUESTION], 0)
    hidden = [
        question.fill(CARDS[QUESTION].sections["Strong answer"])[:50],
        question.fill(CARDS[QUESTION].model.rubric[0].levels[4])[:40],
    ]
    sent = b"".join(received)
    assert [secret for secret in hidden if secret.encode() in sent] == []
    page.get_by_role("button", name="Skip to the strong answer").click()
    expect(page.get_by_text("A strong answer")).to_be_visible()
    wait_idle(page)
    assert [secret for secret in hidden if secret.encode() not in b"".join(received)] == []


def test_cards_load_no_plotly(app: OpenPage):
    page = app("/settings")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in PAGES:
        go(page, path)
    assert [url for url in asked if "plotly" in url.lower()] == []


def test_a_quiz_can_be_answered_by_keys_alone_unless_switched_off(app: OpenPage):
    page = app(f"/quiz?card={MCQ}&seed=1")
    wait_saved(page)  # the store has answered and keys are listened to
    page.keyboard.press("2")
    expect(page.locator("input[type=radio]").nth(1)).to_be_checked()
    page.keyboard.press("c")
    expect(page.get_by_role("radio", name="25%")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.get_by_text("(your answer)")).to_be_visible()
    wait_idle(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Commit")).to_be_visible()

    go(page, "/settings")
    page.get_by_text("Answer quiz questions with single keys").click()
    wait_idle(page)
    go(page, f"/quiz?card={MCQ}&seed=2")
    page.keyboard.press("2")
    page.wait_for_timeout(300)
    expect(page.locator("input[type=radio]").nth(1)).not_to_be_checked()


def test_two_tabs_that_answer_the_same_card_lose_nothing_and_count_it_once(app: OpenPage):
    page = app(f"/drills?card={DRILL}&seed=3")
    tab = page.context.new_page()
    tab.goto(page.url)
    wait_idle(tab)
    answer_drill(page)
    answer_drill(tab)
    go(tab, "/progress")
    expect(tab.get_by_text("The last 2 of 2 answers")).to_be_visible()
    expect(tab.get_by_text("(1 of 1)")).to_be_visible()
    tab.close()


def click_fast(button: Locator) -> None:
    """Four clicks within 30 ms: the server hears the later ones while it answers the first."""
    button.evaluate("button => [0, 10, 20, 30].forEach((ms) => setTimeout(() => button.click(), ms))")


def test_clicks_that_a_busy_server_hears_late_skip_no_card_and_start_over_once(app: OpenPage):
    page = app("/drills")
    page.get_by_text("Ten-minute sprint").click()
    wait_idle(page)
    page.get_by_role("button", name="Start").click()
    for place in (2, 3, 4):
        page.get_by_role("button", name="I do not know").click()
        wait_idle(page)
        click_fast(page.get_by_role("button", name="Next"))
        wait_saved(page)
        expect(page.get_by_text(f"{place} of 10")).to_be_visible()
    go(page, "/quiz")
    page.get_by_text("Five-minute check-up").click()
    wait_idle(page)
    page.get_by_role("button", name="Start the check-up").click()
    for place in (2, 3, 4):
        page.get_by_role("button", name="I do not know").click()
        wait_idle(page)
        click_fast(page.get_by_role("button", name="Next"))
        wait_saved(page)
        expect(page.get_by_text(f"{place} of 10")).to_be_visible()
    go(page, "/progress")
    page.get_by_text("Start over").first.click()
    expect(page.get_by_role("combobox", name="What to start over")).to_have_value("Everything")
    page.get_by_text("I want to start over").click()
    wait_idle(page)
    click_fast(page.get_by_role("button", name="Start over"))
    wait_saved(page)
    assert len(stored(page)["resets"]) == 1
    page.get_by_role("button", name="Undo: everything").click()  # the box is still open
    wait_saved(page)
    expect(page.get_by_text("The last 6 of 6 answers")).to_be_visible()


def test_a_note_stands_in_its_box_after_a_reload(app: OpenPage):
    page = app(f"/cards?card={QUESTION}&seed=0")
    page.get_by_text("Your notes").click()
    box = page.get_by_label("Notes stay in this browser")
    box.fill("<b>mine</b> $x$ \u202eשלום 🎉")
    page.get_by_role("button", name="Save the note").click()
    wait_saved(page)
    expect(page.get_by_text("Your notes (written)")).to_be_visible()
    expect(box).to_be_visible()  # saving does not fold it
    page.reload()
    wait_idle(page)
    page.get_by_text("Your notes (written)").click()
    expect(box).to_have_value("<b>mine</b> $x$ \u202eשלום 🎉")


def test_worked_steps_fade_also_on_a_cold_visit(app: OpenPage):
    page = app(f"/drills?card={DRILL}&seed=3")
    steps = [draw(CARDS[DRILL], 4).fill(step)[:20] for step in CARDS[DRILL].steps]
    page.get_by_role("button", name="I do not know").click()
    wait_saved(page)
    go(page, f"/drills?card={DRILL}&seed=4")
    expect(page.get_by_text(steps[0])).to_be_visible()
    expect(page.get_by_role("button", name="Show a step")).to_be_visible()
    expect(page.get_by_text(steps[1])).to_have_count(0)


def test_a_link_that_leads_nowhere_is_answered_in_words_that_stay(app: OpenPage):
    page = app(f"/drills?card={DRILL}&seed=-1")
    wait_saved(page)
    expect(page.get_by_text("a seed is a whole number")).to_be_visible()
    page.get_by_role("button", name="Next drill").click()
    wait_idle(page)
    expect(page.get_by_text("a seed is a whole number")).to_have_count(0)


def test_a_link_to_an_own_card_waits_for_what_the_browser_keeps(app: OpenPage):
    place, text = scaffold("drill", "serving", "mine", {"serving"})
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(str(place), text)
    page = app("/own-cards")
    files = page.locator("input[type=file]").first
    files.set_input_files({"name": "cards.zip", "mimeType": "application/zip", "buffer": data.getvalue()})
    expect(page.get_by_text("In use from your zip: 1 card.")).to_be_visible()
    wait_saved(page)
    go(page, "/drills?card=d-serving-mine&seed=5")
    expect(page.get_by_text("Time to read some bytes")).to_be_visible()
    assert page.url.endswith("/drills?card=d-serving-mine&seed=5")


def test_back_leads_from_a_card_to_the_list_that_it_was_chosen_in(app: OpenPage):
    page = app("/cards")
    page.get_by_test_id("stMain").get_by_test_id("stPageLink").locator("a").first.click()
    expect(page.get_by_role("button", name="New numbers")).to_be_visible()
    wait_idle(page)
    page.go_back()
    expect(page.get_by_text("Every number is drawn anew.")).to_be_visible()
    assert page.url.endswith("/cards")


def test_enter_opens_a_folded_part_and_does_not_go_on(app: OpenPage):
    page = app(f"/quiz?card={MCQ}&seed=1")
    page.get_by_role("button", name="I do not know").click()
    wait_idle(page)
    address = page.url
    page.locator("summary", has_text="Sources").focus()
    page.keyboard.press("Enter")
    wait_idle(page)
    assert page.url == address
    expect(page.locator("details[open]", has_text="Sources")).to_be_visible()


def test_years_of_answers_are_taken_in_and_a_file_too_large_is_refused_in_words(app: OpenPage, tmp_path: Path):
    page = app("/progress")
    page.get_by_text("Import a file").click()
    attempt = log_of([CARDS[DRILL]], days_ago=3).attempts[0].model_copy(update={"answer": "x" * 900})
    many = Progress(attempts=tuple(attempt.model_copy(update={"id": f"a{number}"}) for number in range(5_000)))
    files = page.locator("input[type=file]").first
    file = tmp_path / "progress.json"
    file.write_text(to_json(many), encoding="utf-8")  # 6 MB
    files.set_input_files(file)
    page.get_by_role("button", name="Merge into my progress").click()
    wait_saved(page)
    expect(page.get_by_text("The last 20 of 5,000 answers")).to_be_visible()
    large = tmp_path / "large.json"
    large.write_bytes(b"{" + b" " * (50 << 20))
    files.set_input_files(large)
    expect(page.get_by_text("File must be 50.0MB or smaller.")).to_be_visible()


@pytest.mark.parametrize("path", PAGES)
def test_every_page_fits_a_phone_and_is_accessible(app: OpenPage, path: str):
    page = app(path, **PHONE)
    assert not scrolls_sideways(page)
    assert violations(page) == []


def test_a_question_opened_from_the_list_stays_after_a_reload(app: OpenPage):
    page = app("/cards")
    page.get_by_text("Open question", exact=True).first.click()
    wait_idle(page)
    page.get_by_role("button", name="Walk through", exact=False).or_(
        page.get_by_test_id("stMain").locator(".stButton button[kind=tertiary]")
    ).first.click()
    page.wait_for_url("**/cards?**card=q-**")
    wait_idle(page)
    address = page.url
    page.reload()
    expect(page.get_by_role("button", name="Skip to the strong answer")).to_be_visible()
    assert page.url == address
