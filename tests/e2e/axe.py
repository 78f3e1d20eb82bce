"""What axe-core finds on a page that people with a disability would stumble over."""

from __future__ import annotations

from importlib.resources import files

from playwright.sync_api import Page

_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# Streamlit's own navigation panel puts headings of menus into its list; nothing of ours is in it.
# Elements of an earlier run are drawn pale until the run in their place has ended: no fault of our colours.
_SETTLED = """async () => {
  const running = document.getAnimations().filter((one) => one.playState === "running");
  const ending = running.filter((one) => one.effect.getComputedTiming().endTime !== Infinity);
  // Of one whose element is taken off the page meanwhile the end may never be told: then it is looked at anew.
  const ended = Promise.all(ending.map((one) => one.finished.catch(() => {})));
  if (!(await Promise.race([ended, new Promise((late) => setTimeout(late, 2000))]))) return false;
  return document.querySelector("[data-stale=true]") === null;
}"""
_RUN = """async (tags) => {
  const where = { exclude: ["[data-testid=stSidebarNav]"] };
  const found = await axe.run(where, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}`));
}"""


def violations(page: Page) -> list[str]:
    """One line for each place that breaks a WCAG 2.2 AA rule: the rule, and a selector of the place."""
    if not page.evaluate("'axe' in window"):
        script = files("axe_playwright_python").joinpath("axe.min.js")
        page.evaluate(script.read_text(encoding="utf-8"))
    page.wait_for_function(_SETTLED)
    found: list[str] = page.evaluate(_RUN, _RULES)
    return found
