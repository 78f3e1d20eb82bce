// Keys for a quiz question: 1 to 5 choose an option, c the next confidence, Enter commits or goes on.
// Nothing is taken from a reader who types, or who has a button, a link, a folded part or a menu under the focus.
let wanted = false;

export default function () {
  wanted = true;
  return () => (wanted = false);
}

document.addEventListener("keydown", (event) => {
  if (!wanted || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const here = event.target;
  const typing = here.closest?.("textarea, select, [contenteditable=true], input:not([type=radio]), [role=dialog]");
  if (typing) return;
  const main = document.querySelector("[data-testid=stMain]");
  if (/^[1-5]$/.test(event.key)) {
    main.querySelectorAll("[data-testid=stForm] input[type=radio]")[Number(event.key) - 1]?.click();
  } else if (event.key === "c") {
    const levels = [...main.querySelectorAll("[data-testid=stForm] [data-testid=stButtonGroup] button")];
    const chosen = levels.findIndex((level) => level.getAttribute("aria-checked") === "true");
    levels[(chosen + 1) % levels.length]?.click();
  } else if (event.key === "Enter" && !here.closest?.("button, a, summary, [role=button]")) {
    main.querySelector("[data-testid^=stBaseButton-primary]")?.click();
  } else {
    return;
  }
  event.preventDefault();
});
