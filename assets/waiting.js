// Says in the bar that something waits on this page, and leads there: a page that is scrolled down does not show it.
//
// data: [what waits, "" for nothing; the anchor of its heading]. Screen readers hear it once, politely, when it comes.
export default function ({ data, parentElement }) {
  const [words, anchor] = data;
  const link = parentElement.querySelector("a");
  link.onclick = (event) => {
    event.preventDefault();
    lead(document.getElementById(anchor));
  };
  if (link.textContent === words) return;
  link.hidden = !words;
  link.textContent = words;
  link.href = `#${anchor}`;
}

// The bar covers what lies under it; who goes on by keyboard goes on from the heading.
function lead(heading) {
  if (!heading) return;
  const bar = document.querySelector('[class*="st-key-mock-bar"]');
  heading.style.scrollMarginTop = `${(bar?.getBoundingClientRect().bottom ?? 0) + 12}px`;
  heading.scrollIntoView({ block: "start" });
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
