// The live chart: one Plotly figure whose values follow a range input at screen rate, without asking the server.
//
// Python has evaluated the formula at every position of the slider and sent the values as tables. This file picks
// row i, draws it in place, and reports i when the hand lets go. It computes nothing, and writes every text that
// comes from data with textContent.
//
// Streamlit calls the default export again when the data or the theme changes, and not when a rerun brings the same
// data. So a rerun by itself never touches the chart, and `move` (a new token with an index) is how Python moves the
// slider.

const KEY_PAUSE_MS = 200; // after the last key press, before the position is reported
const SPEAK_PAUSE_MS = 700; // after the last change, before a screen reader hears the numbers
const NARROW_PX = 400;
const CONFIG = { displayModeBar: false, displaylogo: false, responsive: false, showTips: false, doubleClick: "reset" };

const charts = new WeakMap(); // root element -> LiveChart
const positions = new Map(); // chart key -> { token, index }, for a chart that is taken down and put up again

export default function ({ data: [message, move], parentElement, setStateValue }) {
  const root = parentElement.querySelector(".live");
  if (!charts.has(root)) charts.set(root, new LiveChart(root));
  const chart = charts.get(root);
  chart.update(message, move, setStateValue);
  return () => chart.remove();
}

class LiveChart {
  #find;
  #root;
  #data = null;
  #message = null; // the text that #data was read from
  #key = "";
  #report = () => {};
  #tables = []; // per trace: [{ path, points, rows }], rows being a Float32Array or lists of strings
  #traces = []; // the figure's traces in the colours of the theme
  #theme = null;
  #index = 0;
  #token = null;
  #reported = 0; // the last index that Python knows
  #dragging = false;
  #byPointer = false; // how the slider was touched last: a pointer reports on release, anything else after a pause
  #keyDown = false;
  #frame = 0; // pending animation frame
  #reportTimer = 0;
  #speakTimer = 0;
  #plotly = null;
  #loading = false;
  #resize;

  constructor(root) {
    this.#root = root;
    this.#find = (name) => root.querySelector(`.live-${name}`);
    this.#listen();
    this.#resize = new ResizeObserver(() => this.#ask());
    this.#resize.observe(this.#find("figure"));
  }

  // New data, or a new theme. Cheap parts are rebuilt; tables are decoded only when their content changed.
  update(message, move, setStateValue) {
    this.#report = (index) => setStateValue("commit", { index, at: Date.now() });
    const before = this.#data;
    const data = message === this.#message ? before : JSON.parse(message);
    this.#message = message;
    this.#data = data;
    this.#key = move.key;
    if (before?.signature !== data.signature) this.#tables = decodeTables(data);
    this.#theme = readTheme(this.#root);
    this.#traces = data.figure.data.map((trace) => dress(trace, data, this.#theme));
    this.#follow(move);
    if (before !== data) this.#build();
    this.#buildKey();
    this.#load();
    this.#draw();
  }

  remove() {
    clearTimeout(this.#reportTimer);
    this.#resize.disconnect();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#speakTimer);
    this.#plotly?.purge(this.#find("plot"));
    charts.delete(this.#root);
  }

  // Go where Python wants the slider, unless a hand holds it: then the hand's position is reported on release.
  #follow(move) {
    const { key } = move;
    if (move.token !== this.#token) {
      const known = positions.get(key);
      const first = this.#token === null;
      this.#token = move.token;
      if (!this.#dragging) {
        clearTimeout(this.#reportTimer);
        this.#reportTimer = 0;
        this.#index = first && known?.token === move.token ? known.index : move.index;
        this.#reported = this.#index;
      }
    }
    this.#index = Math.min(this.#index, this.#data.frames - 1);
    positions.set(key, { token: this.#token, index: this.#reported });
  }

  #listen() {
    const range = this.#find("range");
    range.addEventListener("input", () => {
      this.#index = Number(range.value);
      this.#ask();
    });
    range.addEventListener("change", () => {
      this.#dragging = false;
      if (this.#byPointer) this.#reportNow();
      else this.#reportSoon();
    });
    range.addEventListener("pointerdown", () => {
      this.#dragging = true;
      this.#byPointer = true;
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      range.addEventListener(end, () => (this.#dragging = false));
    }
    range.addEventListener("keydown", () => {
      this.#byPointer = false;
      this.#keyDown = true;
    });
    range.addEventListener("keyup", () => {
      this.#keyDown = false;
      if (this.#reportTimer) this.#reportSoon();
    });
    range.addEventListener("blur", () => {
      this.#keyDown = false;
      if (this.#reportTimer) this.#reportNow();
    });
    this.#find("retry").addEventListener("click", () => this.#load());
  }

  #reportSoon() {
    clearTimeout(this.#reportTimer);
    this.#reportTimer = setTimeout(() => (this.#keyDown ? this.#reportSoon() : this.#reportNow()), KEY_PAUSE_MS);
  }

  #reportNow() {
    clearTimeout(this.#reportTimer);
    this.#reportTimer = 0;
    if (this.#index === this.#reported) return;
    this.#reported = this.#index;
    positions.set(this.#key, { token: this.#token, index: this.#index });
    this.#report(this.#index);
  }

  // At most one drawing per animation frame, of the newest position.
  #ask() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const started = performance.now();
    this.#write();
    if (!this.#plotly) return;
    const i = this.#index;
    const plot = this.#find("plot");
    const width = plot.clientWidth;
    if (!width) return; // in a closed tab or expander: the resize observer asks again when it opens
    const traces = this.#traces.map((trace, k) => withRow(trace, this.#tables[k], i));
    this.#plotly.react(plot, traces, layoutFor(this.#data, this.#theme, width), CONFIG).then(() => {
      this.#root.setAttribute("aria-busy", "false");
      recordDraw(performance.now() - started);
    });
  }

  // The words of this position: everything but the picture.
  #write() {
    const { slider, readouts, alt, frames } = this.#data;
    const i = this.#index;
    this.#find("figure").setAttribute("aria-label", alt[i]);
    if (slider) {
      const range = this.#find("range");
      if (Number(range.value) !== i) range.value = i;
      range.setAttribute("aria-valuetext", slider.positions[i]);
      range.style.setProperty("--live-fill", `${(100 * i) / Math.max(1, frames - 1)}%`);
      this.#find("position").textContent = slider.positions[i];
    }
    const shown = this.#find("readouts").children;
    readouts.forEach(({ values, notes }, k) => {
      shown[k].querySelector(".live-value").textContent = values[i];
      if (notes) shown[k].querySelector(".live-note > span").textContent = notes[i];
    });
    if (!this.#find("failed").hidden) this.#fillTable();
    this.#speakLater();
  }

  // A screen reader hears the numbers once, when the slider rests, and not on the first drawing.
  #speakLater() {
    clearTimeout(this.#speakTimer);
    if (document.activeElement !== this.#find("range")) return;
    this.#speakTimer = setTimeout(() => {
      const { readouts, alt } = this.#data;
      const said = readouts.map(({ label, values, notes }) =>
        [`${label}: ${values[this.#index]}`, notes?.[this.#index]].filter(Boolean).join(", "),
      );
      this.#find("spoken").textContent = said.length ? `${said.join(". ")}.` : alt[this.#index];
    }, SPEAK_PAUSE_MS);
  }

  // Slider and readouts, by structure. Nodes that are already there are kept, so focus is too.
  #build() {
    const { slider, readouts, frames, height } = this.#data;
    this.#root.style.setProperty("--live-height", `${height}px`);
    this.#find("control").hidden = !slider;
    this.#find("help").hidden = !slider?.help;
    if (slider) {
      const range = this.#find("range");
      range.id ||= `live-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
      range.max = frames - 1;
      range.value = this.#index;
      this.#find("label").htmlFor = range.id;
      this.#find("label").textContent = slider.label;
      this.#find("position").style.minWidth = `${longest(slider.positions).length}ch`;
      this.#find("help").textContent = slider.help ?? "";
      this.#find("help").id = `${range.id}-help`;
      if (slider.help) range.setAttribute("aria-describedby", `${range.id}-help`);
      else range.removeAttribute("aria-describedby");
    }
    const list = this.#find("readouts");
    list.hidden = !readouts.length;
    while (list.children.length > readouts.length) list.lastElementChild.remove();
    readouts.forEach((readout, k) => {
      const item = list.children[k] ?? list.appendChild(readoutNode());
      item.classList.toggle("live-emphasis", readout.emphasis);
      item.querySelector("dt").textContent = readout.label;
      const note = item.querySelector(".live-note");
      note.hidden = !readout.notes;
      note.dataset.longest = readout.notes ? longest(readout.notes) : "";
    });
  }

  // Swatches for parts without a label of their own in the picture.
  #buildKey() {
    const list = this.#find("key");
    const keyed = this.#data.figure.data.filter((trace) => trace.name && trace.showlegend !== false);
    list.hidden = keyed.length < 2;
    list.replaceChildren(
      ...keyed.map((trace) => {
        const item = element("li");
        item.append(swatchFor(trace, this.#data, this.#theme), document.createTextNode(trace.name));
        return item;
      }),
    );
  }

  async #load() {
    if (this.#plotly || this.#loading) return;
    this.#loading = true;
    try {
      this.#plotly = await loadPlotly(this.#data.plotly);
      this.#show({ failed: false });
    } catch {
      this.#show({ failed: true });
    }
    this.#loading = false;
    if (this.#root.isConnected) this.#draw();
  }

  #show({ failed }) {
    this.#find("figure").hidden = failed;
    this.#find("failed").hidden = !failed;
    if (failed) this.#root.setAttribute("aria-busy", "false");
  }

  // One row for each point on the axis, one column for each named trace.
  #fillTable() {
    const { layout } = this.#data.figure;
    const named = this.#traces.flatMap((trace, k) =>
      trace.name && trace.showlegend !== false ? [withRow(trace, this.#tables[k], this.#index)] : [],
    );
    const flat = named.some((trace) => trace.orientation === "h");
    const title = (axis) => plain(axis?.title?.text ?? axis?.title ?? "");
    const rows = new Map();
    named.forEach(({ x = [], y = [], text = [] }, column) => {
      const [at, value] = flat ? [y, x] : [x, y];
      for (let p = 0; p < at.length; p++) {
        const name = plain(at[p]);
        if (!rows.has(name)) rows.set(name, new Array(named.length).fill(""));
        rows.get(name)[column] = plain(Array.isArray(text) && text[p] && text[p] !== BLANK ? text[p] : value[p]); // its own words, if any
      }
    });
    const line = (tag, cells) => {
      const row = element("tr");
      row.append(...cells.map((cell, c) => element(c ? tag : "th", "", cell)));
      return row;
    };
    this.#find("table").replaceChildren(
      element("caption", "", title(flat ? layout.xaxis : layout.yaxis)),
      line("th", [title(flat ? layout.yaxis : layout.xaxis), ...named.map(({ name }) => plain(name))]),
      ...[...rows].map(([name, cells]) => line("td", [name, ...cells])),
    );
  }
}

// ---- data -----------------------------------------------------------------------------------------------------

function decodeTables({ figure, tables }) {
  const byTrace = figure.data.map(() => []);
  for (const { trace, path, points, float32, text } of tables) {
    const named = (row) => (path[0] === "text" ? labels(figure.data[trace], row) : row);
    const rows = float32 ? decodeFloat32(float32) : text.map(named);
    byTrace[trace].push({ path, points, rows });
  }
  return byTrace;
}

// Plotly takes away the node of a label that is empty, and never puts it back: an unseen sign keeps it.
const BLANK = "\u200b";

function labels(trace, texts) {
  return Array.isArray(texts) ? spaced(trace, texts).map((text) => text || BLANK) : texts;
}

// Plotly puts a label without a marker right against its point: a space keeps it off the bar or line it names.
function spaced({ mode = "", textposition = "" }, texts) {
  if (mode.includes("markers") || !Array.isArray(texts)) return texts;
  if (textposition.endsWith("right")) return texts.map((text) => text && `\u2002${text}`);
  if (textposition.endsWith("left")) return texts.map((text) => text && `${text}\u2002`);
  return texts;
}

function decodeFloat32(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// The trace at one position: a shallow copy, with each table's row put at its path. Numbers are not copied.
function withRow(trace, tables, i) {
  const copy = { ...trace };
  for (const { path, points, rows } of tables) {
    const row = rows instanceof Float32Array ? rows.subarray(i * points, (i + 1) * points) : rows[i];
    let holder = copy;
    for (const step of path.slice(0, -1)) holder = holder[step] = { ...holder[step] };
    holder[path.at(-1)] = row;
  }
  return copy;
}

// ---- look -----------------------------------------------------------------------------------------------------

function readTheme(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  const background = read("--st-background-color") || "#ffffff";
  const text = read("--st-text-color") || "#0e1722";
  const followers = {
    limit: text,
    accent: read("--st-link-color") || read("--st-primary-color") || text,
    muted: read("--st-gray-text-color") || text,
  };
  const scheme = luminance(background) < 0.4 ? "dark" : "light";
  return {
    background,
    text,
    muted: followers.muted,
    line: read("--st-border-color") || followers.muted,
    grid: read("--st-border-color-light") || read("--st-border-color"),
    surface: read("--st-secondary-background-color") || background,
    font: read("--st-font") || "sans-serif",
    scheme,
    colour: (role, data) => followers[role] ?? data.palette[scheme][role] ?? text,
  };
}

function luminance(colour) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = colour; // the browser parses any CSS colour, and answers #rrggbb
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(canvas.fillStyle.slice(at, at + 2), 16) / 255);
  return 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2;
}

// Give a trace the colour, pattern and dash of its role. What the figure sets itself is kept.
function dress(trace, data, theme) {
  const { role, roles } = trace.meta ?? {};
  if (typeof trace.hovertemplate === "string") trace = { ...trace, hovertemplate: oneBox(trace.hovertemplate) };
  if (trace.text) trace = { ...trace, text: labels(trace, trace.text) };
  if (!role && !roles) return trace;
  const colour = roles ? roles.map((each) => theme.colour(each, data)) : theme.colour(role, data);
  const worn = { ...trace };
  if (trace.type === "bar") {
    const shape = roles ? roles.map((each) => data.patterns[each] ?? "") : (data.patterns[role] ?? "");
    const hatched = data.neutrals.includes(role);
    const veil = theme.scheme === "dark" ? 0.3 : 0.4;
    const pattern = hatched
      ? { shape, fillmode: "replace", fgcolor: colour, bgcolor: theme.surface, size: 7, solidity: 0.35 }
      : { shape, fillmode: "overlay", fgcolor: theme.background, fgopacity: veil, size: 7, solidity: 0.18 };
    worn.marker = { color: colour, line: { width: 0 }, ...trace.marker };
    if (shape) worn.marker.pattern = { ...pattern, ...trace.marker?.pattern };
    return worn;
  }
  worn.line = { color: roles ? colour[0] : colour, width: 2.5, dash: dashFor(trace, data), ...trace.line };
  worn.marker = { color: colour, ...trace.marker };
  if (trace.fill || trace.stackgroup) worn.fillcolor ??= faded(worn.line.color, trace.stackgroup ? 0.75 : 0.16);
  return worn;
}

// Plotly writes <extra> in a second box, in the trace's colour on white: too pale to read. One box says both.
function oneBox(template) {
  const [, extra] = /<extra>(.*?)<\/extra>/.exec(template) ?? [null, ""];
  return `${extra && `${extra}: `}${template.replace(/<extra>.*?<\/extra>/, "")}<extra></extra>`;
}

// A line with its name at its end needs no dash to be told apart.
function dashFor(trace, data) {
  return trace.mode?.includes("text") ? "solid" : (data.dashes[trace.meta?.role] ?? "solid");
}

function faded(hex, opacity) {
  return hex + Math.round(255 * opacity).toString(16).padStart(2, "0");
}

// The figure's layout in the page's type and colours. A fresh object each time: Plotly keeps zoom in what it is given.
function layoutFor(data, theme, width) {
  const { meta, ...own } = data.figure.layout;
  const narrow = width < NARROW_PX;
  const given = narrow && meta?.narrow ? merged(own, meta.narrow) : { ...own };
  const size = narrow ? 12 : 14;
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    hovermode: "closest",
    bargap: 0.34,
    barcornerradius: 3,
    ...given,
    width,
    height: data.height,
    autosize: false,
    showlegend: false,
    uirevision: given.uirevision ?? "keep",
    dragmode: coarse.matches ? false : (given.dragmode ?? "zoom"),
    margin: { l: 56, r: 16, t: 12, b: 44, pad: 4, ...given.margin },
    font: { family: theme.font, size, color: theme.text, ...given.font },
    hoverlabel: {
      bgcolor: theme.surface,
      bordercolor: theme.line,
      namelength: 0,
      font: { family: theme.font, size: 13, color: theme.text },
      ...given.hoverlabel,
    },
  };
  for (const name of new Set(["xaxis", "yaxis", ...Object.keys(given)])) {
    if (/^[xy]axis\d*$/.test(name)) layout[name] = axisFor(given[name], theme, size, holdsNames(data, name));
  }
  const limit = (item) => theme.colour(item.name ?? "limit", data);
  if (given.shapes) {
    layout.shapes = given.shapes.map((shape) => ({
      ...shape,
      line: { color: limit(shape), width: 2, dash: data.dashes.limit, ...shape.line },
    }));
  }
  if (given.annotations) {
    layout.annotations = given.annotations.map((note) => ({
      ...note,
      showarrow: note.showarrow ?? false,
      font: { size: size - 1, ...note.font },
    }));
  }
  return layout;
}

function axisFor(axis = {}, theme, size, names) {
  const title = typeof axis.title === "string" ? { text: axis.title } : axis.title;
  return {
    gridcolor: theme.grid,
    linecolor: theme.line,
    zeroline: false,
    ticks: "",
    automargin: false,
    separatethousands: true,
    showgrid: !names, // a bar beside its name needs no line through it
    ...axis,
    title: title && { standoff: 8, ...title, font: { size: size - 1, color: theme.muted, ...title.font } },
    tickfont: { size: size - 1, color: names ? theme.text : theme.muted, ...axis.tickfont },
  };
}

// Whether an axis carries names, not numbers: what a trace on it says, unless the figure says so.
function holdsNames({ figure }, axis) {
  const letter = axis[0];
  const type = figure.layout[axis]?.type;
  if (type) return type === "category";
  const on = (trace) => (trace[`${letter}axis`] ?? letter) === axis.replace("axis", "");
  return figure.data.some((trace) => on(trace) && typeof trace[letter]?.[0] === "string");
}

function merged(base, over) {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const plain = value && typeof value === "object" && !Array.isArray(value);
    result[key] = plain ? merged(base[key] ?? {}, value) : value;
  }
  return result;
}

const coarse = window.matchMedia("(pointer: coarse)"); // a finger scrolls the page; a mouse may zoom the chart

const SYMBOLS = { circle: "\u25cf", diamond: "\u25c6", square: "\u25a0", "triangle-up": "\u25b2", cross: "\u271a" };

// A patch for a filled part, a symbol for points, a stroke for a line.
function swatchFor(trace, data, theme) {
  const role = trace.meta?.role;
  const colour = theme.colour(role, data);
  if (trace.mode?.includes("markers") && !trace.mode.includes("lines")) {
    const dot = element("span", "live-swatch live-dot", SYMBOLS[trace.marker?.symbol] ?? SYMBOLS.circle);
    dot.style.color = colour;
    dot.setAttribute("aria-hidden", "true");
    return dot;
  }
  if (trace.type !== "bar" && !trace.stackgroup) {
    const stroke = element("span", "live-swatch live-stroke");
    const dash = trace.line?.dash ?? dashFor(trace, data);
    const runs = dash === "solid" ? [22] : dash.split(",").map(parseFloat);
    let at = 0;
    const stops = runs.map((run, k) => `${k % 2 ? "transparent" : colour} ${at}px ${(at += run)}px`);
    stroke.style.background = `repeating-linear-gradient(to right, ${stops.join(", ")})`;
    return stroke;
  }
  const patch = element("span", "live-swatch");
  const neutral = data.neutrals.includes(role);
  const veil = neutral ? colour : `color-mix(in srgb, ${theme.background} 40%, transparent)`;
  const stripe = (angle) => `repeating-linear-gradient(${angle}deg, ${veil} 0 1.5px, transparent 1.5px 5px)`;
  const veils = {
    "/": [stripe(135)],
    "\\": [stripe(45)],
    "-": [stripe(0)],
    "|": [stripe(90)],
    "+": [stripe(0), stripe(90)],
    x: [stripe(45), stripe(135)],
    ".": [`radial-gradient(${veil} 1.2px, transparent 1.5px) 0 0 / 5px 5px`],
  };
  const ground = neutral ? theme.surface : colour;
  patch.style.background = [...(veils[data.patterns[role]] ?? []), `linear-gradient(${ground}, ${ground})`].join(", ");
  return patch;
}

// ---- small things ---------------------------------------------------------------------------------------------

function element(tag, className = "", text = null) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== null) node.textContent = text;
  return node;
}

function readoutNode() {
  const item = element("div", "live-readout");
  const note = element("dd", "live-note");
  note.append(element("span"));
  item.append(element("dt"), element("dd", "live-value"), note);
  return item;
}

const longest = (texts) => texts.reduce((a, b) => (b.length > a.length ? b : a), "");

// A cell of the table: four digits of a number, and text without Plotly's own bold.
const plain = (cell) =>
  typeof cell === "number" ? String(Number(cell.toPrecision(4))) : String(cell ?? "").replace(/<[^>]*>/g, "");

// Draw times in ms, for measurements from outside.
function recordDraw(ms) {
  const frames = (window.__frames ??= []);
  if (frames.length >= 10000) frames.length = 0;
  frames.push(ms);
}

// Plotly is served beside the app. On a page such as /partition the address is relative to the app's root, which
// Streamlit's own script reveals, also under a base path.
let plotlyPromise = null;

function loadPlotly(file) {
  plotlyPromise ??= firstOf(appRoots().map((root) => new URL(`app/static/${file}`, root).href)).catch((error) => {
    plotlyPromise = null; // so that "Try again" does
    throw error;
  });
  return plotlyPromise;
}

function appRoots() {
  const own = document.querySelector('script[src*="static/js/"]')?.src;
  const roots = own ? [own.slice(0, own.lastIndexOf("static/js/"))] : [];
  return [...new Set([...roots, new URL("./", document.baseURI).href])];
}

async function firstOf([address, ...rest]) {
  if (window.Plotly) return window.Plotly;
  try {
    await addScript(address);
    return window.Plotly;
  } catch (error) {
    if (rest.length) return firstOf(rest);
    throw error;
  }
}

function addScript(src) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = src;
    script.onload = () => (window.Plotly ? resolve() : reject(new Error(`${src} did not bring Plotly`)));
    script.onerror = () => {
      script.remove();
      reject(new Error(`could not load ${src}`));
    };
    document.head.append(script);
  });
}
