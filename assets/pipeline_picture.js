// A pipeline's schedule that follows a range input: one row a stage, one box a pass, what is left is waiting.
//
// Python has played the schedule at every position of the slider. This file draws position i and reports i when the
// hand lets go; it computes no amount, and writes every text that comes from data with textContent.

const SVG = "http://www.w3.org/2000/svg";
const ROW = 22; // height of a stage's row, pixels
const GAP = 3;
const NAMES = 58; // room for the stages' names
const NUMBERED = 17; // a box this wide holds its micro-batch's number
const EDGED = 5; // a box this wide has an edge of its own
const KEY_PAUSE_MS = 200; // after the last key press, before the position is reported
const SPEAK_PAUSE_MS = 700; // after the last change, before a screen reader hears the numbers

const held = new WeakMap(); // root element -> what the last call left: message, index of Python, timers

export default function ({ data: [message, move], parentElement, setStateValue }) {
  const root = parentElement.querySelector(".pipe");
  const find = (name) => root.querySelector(`.pipe-${name}`);
  const range = find("range");
  const before = held.get(root) ?? { message: null, index: null, dragging: false };
  const state = { ...before, message, index: move.index };
  held.set(root, state);
  const data = before.message === message ? before.data : JSON.parse(message);
  state.data = data;
  const scheme = isDark(getComputedStyle(root).getPropertyValue("--st-background-color")) ? "dark" : "light";
  for (const [role, colour] of Object.entries(data.colours[scheme])) root.style.setProperty(`--${role}`, colour);
  range.max = data.positions.length - 1;
  if (!before.dragging && (before.message !== message || before.index !== move.index)) range.value = move.index;
  find("control").hidden = data.positions.length < 2;

  let frame = 0;
  let reportTimer = 0;
  let speakTimer = 0;
  let byPointer = false;

  function draw() {
    frame = 0;
    const i = Number(range.value);
    range.style.setProperty("--fill", `${(100 * i) / Math.max(1, Number(range.max))}%`);
    range.setAttribute("aria-valuetext", data.positions[i]);
    find("position").textContent = data.positions[i];
    find("drawn").textContent = data.drawn[i];
    data.readouts.forEach(({ values, notes }, k) => {
      const item = find("readouts").children[k];
      item.querySelector(".pipe-value").textContent = values[i];
      item.querySelector(".pipe-note").textContent = notes[i];
    });
    const figure = find("figure");
    figure.setAttribute("aria-label", data.alt[i]);
    if (figure.clientWidth) figure.replaceChildren(picture(data.schedules[data.which[i]], figure.clientWidth));
  }

  function follow() {
    frame ||= requestAnimationFrame(draw); // at most one drawing a frame, of the newest position
    clearTimeout(speakTimer);
    speakTimer = setTimeout(() => (find("spoken").textContent = data.alt[Number(range.value)]), SPEAK_PAUSE_MS);
  }

  function report() {
    clearTimeout(reportTimer);
    if (Number(range.value) === state.index) return;
    state.index = Number(range.value);
    setStateValue("commit", { index: state.index, at: Date.now() });
  }

  function ended() {
    state.dragging = false;
    clearTimeout(reportTimer);
    if (byPointer) report();
    else reportTimer = setTimeout(report, KEY_PAUSE_MS);
  }

  function pressed() {
    state.dragging = true;
    byPointer = true;
  }

  const typed = () => (byPointer = false);
  const let_go = () => (state.dragging = false);
  const events = { input: follow, change: ended, pointerdown: pressed, pointerup: let_go, pointercancel: let_go, keydown: typed };
  for (const [name, answer] of Object.entries(events)) range.addEventListener(name, answer);
  build(find, data);
  const resize = new ResizeObserver(() => (frame ||= requestAnimationFrame(draw)));
  resize.observe(find("figure"));
  draw();
  return () => {
    for (const [name, answer] of Object.entries(events)) range.removeEventListener(name, answer);
    resize.disconnect();
    cancelAnimationFrame(frame);
    clearTimeout(reportTimer);
    clearTimeout(speakTimer);
  };
}

function build(find, { readouts, key }) {
  find("readouts").replaceChildren(
    ...readouts.map(({ label }) => {
      const item = document.createElement("div");
      for (const [tag, name, text] of [["dt", "", label], ["dd", "pipe-value", ""], ["dd", "pipe-note", ""]]) {
        const node = document.createElement(tag);
        node.className = name;
        node.textContent = text;
        item.append(node);
      }
      return item;
    }),
  );
  find("key").replaceChildren(
    ...key.map(([phase, words]) => {
      const item = document.createElement("li");
      const swatch = element("svg", { viewBox: "0 0 16 12", "aria-hidden": "true" });
      if (phase === "idle") swatch.append(hatching("pipe-key-hatch"));
      swatch.append(element("rect", { width: 16, height: 12, class: `pipe-${phase}` }));
      if (phase === "idle") swatch.append(element("rect", { width: 16, height: 12, fill: "url(#pipe-key-hatch)" }));
      item.append(swatch, document.createTextNode(words));
      return item;
    }),
  );
}

// One path a kind of pass, so that a thousand boxes are three nodes.
function picture({ length, names, passes }, width) {
  const svg = element("svg", { "aria-hidden": "true" });
  const scale = (width - NAMES) / length;
  const height = names.length * (ROW + GAP);
  svg.append(hatching("pipe-hatching"));
  const rows = names.map((_, k) => `M${NAMES} ${k * (ROW + GAP)}h${width - NAMES}v${ROW}h${NAMES - width}z`).join("");
  svg.append(element("path", { d: rows, class: "pipe-idle" }), element("path", { d: rows, fill: "url(#pipe-hatching)" }));
  const numbers = [];
  for (const [phase, flat] of Object.entries(passes)) {
    let d = "";
    let least = Infinity;
    for (let k = 0; k < flat.length; k += 4) {
      const [row, start, long, number] = flat.slice(k, k + 4);
      const x = NAMES + start * scale;
      const wide = long * scale;
      d += `M${x.toFixed(2)} ${row * (ROW + GAP)}h${wide.toFixed(2)}v${ROW}h${(-wide).toFixed(2)}z`;
      least = Math.min(least, wide);
      if (wide >= NUMBERED && phase !== "weight") numbers.push([number, x + wide / 2, row * (ROW + GAP) + ROW / 2 + 4.5]);
    }
    const edge = least >= EDGED ? 1 : least >= 2 ? 0.4 : 0;
    svg.append(element("path", { d, class: `pipe-pass pipe-${phase}`, "stroke-width": edge }));
  }
  for (const [number, x, y] of numbers) svg.append(label(String(number), x, y, "pipe-on"));
  names.forEach((name, k) => svg.append(label(name, NAMES - 8, k * (ROW + GAP) + ROW / 2 + 4.5, "pipe-name")));
  svg.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return svg;
}

function hatching(id) {
  const pattern = element("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(-45)" });
  pattern.append(element("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "pipe-hatch" }));
  return pattern;
}

function label(words, x, y, name) {
  const text = element("text", { x, y, class: name });
  text.textContent = words;
  return text;
}

function element(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function isDark(colour) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = colour.trim(); // the browser parses any CSS colour, and answers #rrggbb
  const [r, g, b] = [1, 3, 5].map((from) => parseInt(canvas.fillStyle.slice(from, from + 2), 16));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}
