// A tile of keys and values on its way from HBM into SRAM, and what one query row knows after it.
//
// Python has worked out every frame: numbers, words, and which tile lies where. This file draws frame i, moves the tile
// from place to place, and computes no amount. It asks the server nothing and writes every text with textContent.

const SVG = "http://www.w3.org/2000/svg";
const PAUSE_MS = 2200; // between two frames while it plays
const WIDEST = 720; // pixels; beyond, the boxes would only drift apart
const SIDE = 44; // width of the boxes of queries and output
const BOX = 40; // height of a box in HBM
const HBM_TOP = 24;
const CHIP_TOP = 104;
const CHIP_HEIGHT = 124;

export default function ({ data: [data], parentElement }) {
  const root = parentElement.querySelector(".walk");
  const find = (name) => root.querySelector(`.walk-${name}`);
  const scheme = isDark(getComputedStyle(root).getPropertyValue("--st-background-color")) ? "dark" : "light";
  for (const [role, colour] of Object.entries(data.colours[scheme])) root.style.setProperty(`--${role}`, colour);
  root.style.setProperty("--on", scheme === "dark" ? "#000" : "#fff");
  const same = root.dataset.signature === data.signature; // called again for a new theme: then the place stays
  root.dataset.signature = data.signature;
  let at = same ? Number(root.dataset.at) : 0;
  let timer = 0;
  let stage = null;

  const rows = data.rows.map(() => element("tr"));
  find("table").tBodies[0].replaceChildren(...rows);

  function draw(animated) {
    const frame = data.frames[at];
    root.dataset.at = at;
    find("figure").setAttribute("aria-label", frame.alt);
    find("title").textContent = `${frame.title}.`;
    find("words").textContent = frame.words;
    find("place").textContent = `${at + 1} of ${data.frames.length}`;
    find("back").disabled = at === 0;
    find("step").disabled = at === data.frames.length - 1;
    rows.forEach((row, r) => {
      const known = r < frame.rows;
      const cells = known ? data.rows[r] : [data.rows[r][0], "", "", "", "", ""];
      row.replaceChildren(...cells.map((text, c) => element(c ? "td" : "th", text)));
      row.firstChild.scope = "row";
      row.classList.toggle("walk-now", known && r === frame.rows - 1);
    });
    stage?.show(frame, animated);
  }

  function lay() {
    const figure = find("figure");
    if (!figure.clientWidth) return;
    stage = new Stage(data, Math.min(figure.clientWidth, WIDEST));
    figure.replaceChildren(stage.svg);
    stage.show(data.frames[at], false);
  }

  function go(step) {
    at = Math.min(Math.max(at + step, 0), data.frames.length - 1);
    draw(step > 0);
    if (at === data.frames.length - 1) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    find("play").textContent = "Play";
    find("play").setAttribute("aria-pressed", "false");
  }

  function play() {
    if (timer) return stop();
    if (at === data.frames.length - 1) at = 0;
    timer = setInterval(() => go(1), PAUSE_MS);
    find("play").textContent = "Pause";
    find("play").setAttribute("aria-pressed", "true");
    if (at === 0) draw(false);
    go(1);
  }

  find("back").onclick = () => {
    stop();
    go(-1);
  };
  find("step").onclick = () => {
    stop();
    go(1);
  };
  find("play").onclick = play;
  stop();
  const resize = new ResizeObserver(lay);
  resize.observe(find("figure"));
  lay();
  draw(false);
  return () => {
    resize.disconnect();
    clearInterval(timer);
  };
}

// The picture at one width: what stands still is drawn once, what moves is kept and moved.
class Stage {
  constructor(data, width) {
    this.data = data;
    const count = data.tiles.length;
    const room = width - 2 * (SIDE + 16);
    const gap = count > 8 ? 2 : 4;
    this.pitch = Math.min(room / count, 110);
    this.tileWidth = this.pitch - gap;
    this.tileX = (i) => SIDE + 16 + i * this.pitch;
    this.outputX = width - SIDE - 1;
    this.slot = { x: SIDE + 28, y: CHIP_TOP + 38, width: Math.min(170, width * 0.36), height: 64 };
    const numbers = this.slot.x + this.slot.width + 20;

    this.svg = element("svg", null, { "aria-hidden": "true" });
    this.#text("HBM: large and slow", 0, 14, "walk-muted");
    this.#rect({ x: 0, y: HBM_TOP, width: SIDE, height: BOX }, "walk-query");
    this.#text("Q", SIDE / 2, HBM_TOP + 25, "walk-on", "middle");
    this.boxes = data.tiles.map((name, i) => {
      const group = this.svg.appendChild(element("g", null, { class: "walk-tile" }));
      const x = this.tileX(i);
      group.append(this.#rect({ x, y: HBM_TOP, width: this.tileWidth, height: BOX }, "walk-kv"));
      if (this.tileWidth > 18) group.append(this.#text(name, x + this.tileWidth / 2, HBM_TOP + 25, "walk-on", "middle"));
      return group;
    });
    this.#text("keys and values", this.tileX(0), HBM_TOP + BOX + 16, "walk-muted");
    this.#rect({ x: this.outputX, y: HBM_TOP, width: SIDE, height: BOX }, "walk-empty");
    this.#text("O", this.outputX + SIDE / 2, HBM_TOP + 25, "walk-strong", "middle");

    this.#rect({ x: 0.5, y: CHIP_TOP, width: width - 1, height: CHIP_HEIGHT, rx: 8 }, "walk-chip");
    this.#text("SRAM: small, beside the multipliers", 12, CHIP_TOP + 22, "walk-muted");
    this.#rect({ x: 12, y: this.slot.y, width: SIDE - 8, height: this.slot.height }, "walk-query");
    this.#text("Q", 12 + (SIDE - 8) / 2, this.slot.y + 37, "walk-on", "middle");
    this.#rect(this.slot, "walk-slot");
    this.numbers = ["max", "sum", "output × sum"].map((name, k) => {
      const y = this.slot.y + 14 + k * 22;
      const narrow = width < 480 && k === 2 ? "out × sum" : name;
      const label = this.#text(`${narrow} `, numbers, y, "walk-muted");
      return label.appendChild(element("tspan", "", { class: "walk-strong" }));
    });
    this.numbers.forEach((node) => node.style.setProperty("fill", "var(--st-text-color)"));
    this.mover = this.#rect(this.slot, "walk-mover");
    this.moverText = [24, 46].map((down) =>
      this.#text("", this.slot.x + this.slot.width / 2, this.slot.y + down, "walk-on", "middle"),
    );
    this.result = this.#rect({ x: this.outputX, y: HBM_TOP, width: SIDE, height: BOX }, "walk-result");
    this.resultText = this.#text("O", this.outputX + SIDE / 2, HBM_TOP + 25, "walk-on", "middle");
  }

  show(frame, animated) {
    const last = this.data.frames.length - 1;
    const ends = frame.index === last;
    this.boxes.forEach((box, i) => box.classList.toggle("walk-seen", i < frame.rows));
    this.numbers.forEach((node, k) => (node.textContent = frame.chip[k]));
    const on = frame.tile !== null;
    this.mover.style.visibility = on ? "visible" : "hidden";
    if (on) {
      const home = { x: this.tileX(frame.tile), y: HBM_TOP, width: this.tileWidth, height: BOX };
      if (animated && !frame.used) {
        this.#place(this.mover, home, true);
        this.mover.getBoundingClientRect(); // the browser has to see the start before it moves to the end
      }
      this.#place(this.mover, this.slot, !(animated && !frame.used));
    }
    const texts = on ? [frame.used ? "scores" : "keys, values", frame.used ? frame.scores : this.data.tiles[frame.tile]] : ["", ""];
    this.moverText.forEach((node, k) => (node.textContent = texts[k]));
    this.result.style.visibility = this.resultText.style.visibility = ends ? "visible" : "hidden";
    if (ends) {
      const from = { x: this.outputX, y: this.slot.y, width: SIDE, height: BOX };
      const to = { ...from, y: HBM_TOP };
      if (animated) {
        this.#place(this.result, from, true);
        this.result.getBoundingClientRect();
      }
      this.#place(this.result, to, !animated);
    }
  }

  // Attributes hold everywhere; the same as CSS properties lets a browser that can do so move them slowly.
  #place(node, box, still) {
    node.classList.toggle("walk-still", still);
    for (const [name, value] of Object.entries(box)) {
      node.setAttribute(name, value);
      node.style.setProperty(name, `${value}px`);
    }
  }

  #rect(box, name) {
    return this.svg.appendChild(element("rect", null, { rx: 4, ...box, class: name }));
  }

  #text(words, x, y, name, anchor = "start") {
    return this.svg.appendChild(element("text", words, { x, y, class: name, "text-anchor": anchor }));
  }
}

function element(name, words = null, attributes = {}) {
  const drawn = ["svg", "g", "rect", "text", "tspan"].includes(name);
  const node = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (words !== null) node.textContent = words;
  return node;
}

function isDark(colour) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = colour.trim(); // the browser parses any CSS colour, and answers #rrggbb
  const [r, g, b] = [1, 3, 5].map((from) => parseInt(canvas.fillStyle.slice(from, from + 2), 16));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}
