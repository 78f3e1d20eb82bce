// Home's picture: GPUs laid end to end, filled by weights and by a KV cache that follows a range input.
//
// Python has evaluated the formula at every position of the slider. This file picks row i and turns bytes into pixels;
// it computes no amount, asks the server nothing, and writes every text that comes from data with textContent.

const SVG = "http://www.w3.org/2000/svg";
const GAP = 4; // between two GPUs, pixels
const TOP = 28; // room above the GPUs for the guess
const CELL_HEIGHT = 72;
const LINE = 20; // between two lines of labels
const NARROW = 560; // pixels; below, the weights' label takes a line of its own
const SPEAK_PAUSE_MS = 700; // after the last change, before a screen reader hears the numbers

export default function ({ data: [data], parentElement }) {
  const root = parentElement.querySelector(".kv");
  const find = (name) => root.querySelector(`.kv-${name}`);
  const range = find("range");
  const scheme = isDark(getComputedStyle(root).getPropertyValue("--st-background-color")) ? "dark" : "light";
  for (const [role, colour] of Object.entries(data.colours[scheme])) root.style.setProperty(`--${role}`, colour);
  find("gpus").textContent = data.words.gpus;
  find("size-label").textContent = data.words.size;
  range.max = data.cache.length - 1;
  if (!root.dataset.drawn) range.value = data.start; // called again when the theme changes: then the hand's place stays
  root.dataset.drawn = "yes";

  let frame = 0;
  let speakTimer = 0;

  function draw() {
    frame = 0;
    const i = Number(range.value);
    range.style.setProperty("--fill", `${(100 * i) / Number(range.max)}%`);
    range.setAttribute("aria-valuetext", data.positions[i]);
    find("position").textContent = data.positions[i];
    find("size").textContent = data.sizes[i];
    find("fits").textContent = data.fits[i];
    find("note").textContent = data.notes[i];
    find("note").classList.toggle("kv-strong", data.weights + data.cache[i] > data.gpus * data.capacity);
    const figure = find("figure");
    figure.setAttribute("aria-label", data.alt[i]);
    if (figure.clientWidth) figure.replaceChildren(picture(data, i, figure.clientWidth));
  }

  function follow() {
    frame ||= requestAnimationFrame(draw); // at most one drawing a frame, of the newest position
    clearTimeout(speakTimer);
    speakTimer = setTimeout(() => (find("spoken").textContent = data.alt[Number(range.value)]), SPEAK_PAUSE_MS);
  }

  range.addEventListener("input", follow);
  const resize = new ResizeObserver(() => (frame ||= requestAnimationFrame(draw)));
  resize.observe(find("figure"));
  draw();
  return () => {
    range.removeEventListener("input", follow);
    resize.disconnect();
    cancelAnimationFrame(frame);
    clearTimeout(speakTimer);
  };
}

// The whole drawing at position i. Bytes run from left to right through GPU after GPU.
function picture(data, i, width) {
  const { gpus, capacity, weights, cache, guess, words } = data;
  const most = weights + cache[cache.length - 1];
  const slots = Math.max(gpus, Math.ceil(most / capacity));
  const pitch = (width + GAP) / slots;
  const cell = pitch - GAP;
  const at = (bytes) => {
    const whole = Math.min(Math.floor(bytes / capacity), slots - 1);
    return whole * pitch + ((bytes - whole * capacity) / capacity) * cell;
  };
  const end = weights + cache[i];
  const used = Math.max(gpus, Math.ceil(end / capacity));
  const bottom = TOP + CELL_HEIGHT;
  const svg = element("svg", { "aria-hidden": "true" });
  svg.append(hatching());

  for (let k = 0; k < used; k++) {
    const group = element("g", { class: k < gpus ? "kv-gpu" : "kv-gpu kv-beyond" });
    const box = { x: k * pitch, y: TOP, width: cell, height: CELL_HEIGHT };
    group.append(element("rect", { ...box, class: "kv-cell" }));
    const fill = (from, to, part) => {
      const [left, right] = [from, to].map((bytes) => Math.min(Math.max(bytes - k * capacity, 0), capacity));
      if (right <= left) return;
      const place = { ...box, x: box.x + (left / capacity) * cell, width: ((right - left) / capacity) * cell };
      group.append(element("rect", { ...place, class: `kv-${part}` }));
      if (part === "cache") group.append(element("rect", { ...place, fill: "url(#kv-hatch)" }));
    };
    fill(0, weights, "weights");
    fill(weights, end, "cache");
    svg.append(group);
  }

  const full = gpus * pitch - GAP / 2;
  svg.append(line(full, TOP - 8, full, bottom + 8, "kv-full"));
  svg.append(label(words.full, full - 6, bottom + LINE, "end", used > gpus ? "kv-strong" : "kv-words"));
  const named = [
    [words.weights, 0, width < NARROW ? 2 : 1, "kv-words"],
    [`KV cache ${data.sizes[i]}`, at(weights), 1, "kv-strong"],
  ];
  for (const [text, from, row, name] of named) {
    svg.append(line(from + 0.5, bottom, from + 0.5, bottom + row * LINE + 2, "kv-tick"));
    svg.append(label(text, from + 7, bottom + row * LINE, "start", name));
  }

  if (guess !== null && weights + guess <= slots * capacity) {
    const x = at(weights + guess);
    svg.append(line(x, TOP - 8, x, bottom, "kv-guess"));
    svg.append(label(words.guess, x, TOP - 11, x < width / 3 ? "start" : x > (2 * width) / 3 ? "end" : "middle"));
  }
  return svg;
}

function hatching() {
  const pattern = element("pattern", {
    id: "kv-hatch",
    width: 8,
    height: 8,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(-45)",
  });
  pattern.append(line(0, 0, 0, 8, "kv-hatch"));
  return pattern;
}

function line(x1, y1, x2, y2, name) {
  return element("line", { x1, y1, x2, y2, class: name });
}

function label(words, x, y, anchor = "start", name = "kv-words") {
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
