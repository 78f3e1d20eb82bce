// A small diagram, drawn in Python as SVG text of our own: this file picks the drawing that the width has room for and
// gives it the colours of the theme.

const NARROW = 600; // pixels

export default function ({ data: [{ wide, narrow, alt, colours }], parentElement }) {
  const root = parentElement.querySelector(".dia");
  const figure = root.querySelector(".dia-figure");
  const scheme = isDark(getComputedStyle(root).getPropertyValue("--st-background-color")) ? "dark" : "light";
  for (const [role, colour] of Object.entries(colours[scheme])) root.style.setProperty(`--${role}`, colour);
  figure.setAttribute("aria-label", alt);
  let shown = "";

  function draw() {
    const chosen = root.clientWidth < NARROW ? narrow : wide;
    if (chosen === shown || !root.clientWidth) return;
    shown = chosen;
    figure.innerHTML = chosen;
  }

  const resize = new ResizeObserver(draw);
  resize.observe(root);
  draw();
  return () => resize.disconnect();
}

function isDark(colour) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = colour.trim(); // the browser parses any CSS colour, and answers #rrggbb
  const [r, g, b] = [1, 3, 5].map((from) => parseInt(canvas.fillStyle.slice(from, from + 2), 16));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}
