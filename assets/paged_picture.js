// Blocks of a paged cache: which request holds which block, step by step.
//
// Python has played the story and sent one frame a step. This file shows frame i and computes no amount. Nothing moves
// until somebody presses Play, and every text that comes from data is written with textContent.

const SVG = "http://www.w3.org/2000/svg";
const PERIOD_MS = 1100; // one step while it plays
const COLUMNS = 5; // blocks side by side in memory
const GAP = 10; // between two blocks, pixels
const SLOT = 24; // height of a slot
const HEAD = 20; // a block's number above it
const ROW = 34; // one request of the table

export default function ({ data: [data], parentElement }) {
  const root = parentElement.querySelector(".paged");
  const find = (name) => root.querySelector(`.paged-${name}`);
  const scheme = isDark(getComputedStyle(root).getPropertyValue("--st-background-color")) ? "dark" : "light";
  root.style.setProperty("--kv", data.colours[scheme]);
  for (const name of ["tokens", "empty", "piece"]) find(`${name}-label`).textContent = data.labels[name];
  const last = data.frames.length - 1;
  let at = Math.min(Number(root.dataset.at ?? 0), last); // called again when the theme changes: then it stays
  let timer = 0;

  function draw() {
    const frame = data.frames[at];
    root.dataset.at = at;
    find("step").textContent = `step ${at + 1} of ${last + 1}`;
    find("words").textContent = frame.words;
    for (const name of ["tokens", "empty", "piece"]) find(name).textContent = frame[name];
    find("play").textContent = timer ? "Pause" : "Play";
    find("back").disabled = at === 0;
    find("next").disabled = at === last;
    const figure = find("figure");
    figure.setAttribute("aria-label", frame.alt);
    if (figure.clientWidth) figure.replaceChildren(picture(data, frame, figure.clientWidth));
  }

  function go(to, { speak = true } = {}) {
    at = Math.min(Math.max(to, 0), last);
    draw();
    if (speak) find("spoken").textContent = data.frames[at].alt;
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
  }

  function play() {
    if (at === last) at = 0;
    timer = setInterval(() => {
      if (at + 1 >= last) pause();
      go(at + 1, { speak: !timer });
    }, PERIOD_MS);
    draw();
  }

  const presses = {
    play: () => (timer ? (pause(), go(at)) : play()),
    back: () => (pause(), go(at - 1)),
    next: () => (pause(), go(at + 1)),
    restart: () => (pause(), go(0)),
  };
  for (const [name, press] of Object.entries(presses)) find(name).addEventListener("click", press);
  const resize = new ResizeObserver(() => draw());
  resize.observe(find("figure"));
  draw();
  return () => {
    pause();
    resize.disconnect();
    for (const [name, press] of Object.entries(presses)) find(name).removeEventListener("click", press);
  };
}

// Memory above, block by block; below it each request's table: its blocks in the order of its text.
function picture({ slots, most, labels }, frame, width) {
  const svg = element("svg", { "aria-hidden": "true" });
  svg.append(hatching());
  const block = (width - (COLUMNS - 1) * GAP) / COLUMNS;
  const rows = Math.ceil(frame.blocks.length / COLUMNS);
  frame.blocks.forEach(({ owner, filled, fresh }, k) => {
    const x = (k % COLUMNS) * (block + GAP);
    const y = Math.floor(k / COLUMNS) * (HEAD + SLOT + GAP);
    const group = element("g", { class: `paged-block${owner ? " paged-held" : ""}${fresh ? " paged-new" : ""}` });
    group.append(label(String(k + 1), x, y + 15, "start", "paged-quiet"));
    if (owner) group.append(label(owner, x + block, y + 15, "end", "paged-strong"));
    cells(group, x, y + HEAD, block, slots, filled, Boolean(owner));
    svg.append(group);
  });
  const top = rows * (HEAD + SLOT + GAP) + 8;
  svg.append(label(labels.table, 0, top + 14, "start", "paged-quiet"));
  frame.requests.forEach(({ name, blocks }, row) => {
    const y = top + 26 + row * ROW;
    const chip = Math.min(block, (width - 28) / 5 - 6);
    svg.append(label(name, 0, y + 17, "start", "paged-strong"));
    blocks.forEach(({ number, filled }, k) => {
      const x = 28 + k * (chip + 6);
      const group = element("g", { class: "paged-held" });
      cells(group, x + 20, y, chip - 20, slots, filled, true);
      svg.append(label(String(number), x + 16, y + 17, "end", "paged-quiet"), group);
    });
  });
  const height = top + 26 + most * ROW;
  svg.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return svg;
}

// The slots of one block: filled with tokens from the left, hatched where they are taken and empty.
function cells(group, x, y, width, slots, filled, held) {
  const cell = width / slots;
  for (let k = 0; k < slots; k++) {
    const box = { x: x + k * cell, y, width: cell, height: SLOT };
    group.append(element("rect", { ...box, class: k < filled ? "paged-token" : "paged-slot" }));
    if (held && k >= filled) group.append(element("rect", { ...box, fill: "url(#paged-hatch)" }));
  }
}

function hatching() {
  const pattern = element("pattern", {
    id: "paged-hatch",
    width: 6,
    height: 6,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(-45)",
  });
  pattern.append(element("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "paged-hatch" }));
  return pattern;
}

function label(words, x, y, anchor, name) {
  const text = element("text", { x, y, "text-anchor": anchor, class: name });
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
