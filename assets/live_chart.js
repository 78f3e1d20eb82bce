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
const LABEL_GAP_PX = 8; // between the end of the axis and a row's label
const NAME_GAP_PX = 10; // between the names of two limits
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
  #root;
  #nodes = new Map();
  #overlay;
  #shown = []; // per readout: the nodes of its value and note
  #data = null;
  #message = null; // the text that #data was read from
  #key = "";
  #report = () => {};
  #tables = []; // per trace: [{ path, points, rows }], rows being one Float32Array
  #traces = []; // the figure's traces in the colours of the theme
  #theme = null;
  #width = 0; // of the plot, as the resize observer saw it last
  #sides = null; // margins that hold the longest row name and row label
  #drawn = []; // what the picture shows: traces, width and index
  #drawing = null; // the promise of the last drawing
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
    this.#overlay = new Overlay(this.#find("overlay"));
    this.#listen();
    this.#resize = new ResizeObserver(() => {
      this.#width = this.#find("plot").clientWidth;
      this.#ask();
    });
    this.#resize.observe(this.#find("figure"));
  }

  #find(name) {
    if (!this.#nodes.has(name)) this.#nodes.set(name, this.#root.querySelector(`.live-${name}`));
    return this.#nodes.get(name);
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
    const theme = readTheme(this.#root);
    this.#follow(move);
    if (before !== data) this.#build();
    if (before !== data || theme.signature !== this.#theme.signature) {
      this.#theme = theme;
      this.#sides = null;
      this.#traces = data.figure.data.map((trace) => dress(trace, data, theme));
      this.#overlay.paint((role) => theme.colour(role, data));
      this.#buildKey();
    }
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
    let drawing = null;
    try {
      if (this.#plotly) drawing = this.#drawPicture();
    } finally {
      this.#write(); // after the picture: Plotly measures, and would have to wait for the words to be laid out
    }
    drawing?.then(() => {
      this.#overlay.place(this.#find("plot"));
      this.#ready();
      recordDraw(performance.now() - started);
    });
  }

  // Nothing to wait for if the picture is there already, or has no room. One without tables is drawn once: only what
  // lies over it follows the slider.
  #drawPicture() {
    const plot = this.#find("plot");
    this.#width ||= plot.clientWidth;
    if (!this.#width) return null; // in a closed tab or expander: the resize observer asks again when it opens
    const now = [this.#traces, this.#width, this.#index];
    const before = this.#drawn;
    if (now.every((part, k) => part === before[k])) return null;
    this.#drawn = now;
    const moves = this.#data.tables.length > 0;
    if (!moves && now[0] === before[0] && now[1] === before[1]) return this.#drawing;
    if (before[1] !== this.#width) this.#sides = null;
    this.#sides ??= sidesFor(this.#data, this.#theme, this.#width);
    const traces = this.#traces.map((trace, k) => withRow(trace, this.#tables[k], this.#index));
    const layout = layoutFor(this.#data, this.#theme, this.#width, this.#sides);
    const config = before.length ? undefined : CONFIG; // given again, Plotly compares it all
    this.#drawing = this.#plotly.react(plot, traces, layout, config);
    return this.#drawing;
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
      range.style.setProperty("--fill", `${(100 * i) / Math.max(1, frames - 1)}%`);
      write(this.#find("position"), slider.positions[i]);
    }
    readouts.forEach(({ values, notes }, k) => {
      const { value, note } = this.#shown[k];
      write(value, values[i]);
      if (notes) write(note, notes[i]);
    });
    this.#overlay.show(i);
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
    this.#overlay.build(this.#data);
    this.#shown = readouts.map((readout, k) => {
      const item = list.children[k] ?? list.appendChild(readoutNode());
      item.classList.toggle("live-emphasis", readout.emphasis);
      item.querySelector("dt").textContent = readout.label;
      const note = item.querySelector(".live-note");
      note.hidden = !readout.notes;
      note.dataset.longest = readout.notes ? longest(readout.notes) : "";
      return { value: item.querySelector(".live-value"), note: note.firstElementChild };
    });
  }

  // Swatches for parts without a label of their own in the picture.
  #buildKey() {
    const list = this.#find("key");
    const keyed = new Map(); // what it says -> the trace and role that draw it
    for (const trace of this.#data.figure.data) {
      const { role, roles = [], parts = [] } = trace.meta ?? {};
      if (trace.name && trace.showlegend !== false) keyed.set(trace.name, [trace, role]);
      parts.forEach((part, p) => keyed.set(part, [trace, roles[p]]));
    }
    list.hidden = keyed.size < 2;
    list.replaceChildren(
      ...[...keyed].map(([name, [trace, role]]) => {
        const item = element("li");
        item.append(swatchFor(trace, role, this.#data, this.#theme), document.createTextNode(name));
        return item;
      }),
    );
  }

  async #load() {
    if (this.#plotly || this.#loading) return;
    this.#loading = true;
    try {
      // Fonts too, since margins are measured. They come from the same server, and are smaller.
      [this.#plotly] = await Promise.all([loadPlotly(this.#data.plotly), document.fonts.ready]);
      this.#show({ failed: false });
    } catch {
      this.#show({ failed: true });
    }
    this.#loading = false;
    if (this.#root.isConnected) this.#draw();
  }

  // There is something to see.
  #ready() {
    if (this.#root.getAttribute("aria-busy") !== "false") this.#root.setAttribute("aria-busy", "false");
  }

  #show({ failed }) {
    this.#find("figure").hidden = failed;
    this.#find("failed").hidden = !failed;
    if (failed) this.#ready();
  }

  // One row for each point on the axis, one column for each named trace or part.
  #fillTable() {
    const { layout } = this.#data.figure;
    const drawn = this.#traces.map((trace, k) => withRow(trace, this.#tables[k], this.#index));
    const named = drawn.filter((trace) => trace.meta?.parts || trace.name);
    const flat = named.some((trace) => trace.orientation === "h");
    const title = (axis) => plain(axis?.title?.text ?? axis?.title ?? "");
    const columns = [...new Set(named.flatMap((trace) => trace.meta?.parts ?? [trace.name]))];
    const rows = new Map();
    for (const { name, meta, x = [], y = [], hovertext, customdata } of named) {
      const [at, value] = flat ? [y, x] : [x, y];
      for (let p = 0; p < at.length; p++) {
        const row = plain(meta?.named ? hovertext[p] : at[p]); // of points with names of their own, the name
        if (!rows.has(row)) rows.set(row, new Array(columns.length).fill(""));
        const whole = meta?.parts && !meta.named ? (customdata ?? value) : value; // of a part that the axis cuts
        rows.get(row)[columns.indexOf(meta?.parts?.[p] ?? name)] = plain(whole[p]);
      }
    }
    const line = (tag, cells) => {
      const row = element("tr");
      row.append(...cells.map((cell, c) => element(c ? tag : "th", "", cell)));
      return row;
    };
    this.#find("table").replaceChildren(
      element("caption", "", title(flat ? layout.xaxis : layout.yaxis)),
      line("th", [title(flat ? layout.yaxis : layout.xaxis), ...columns.map(plain)]),
      ...[...rows].map(([name, cells]) => line("td", [name, ...cells])),
    );
  }
}

// Lines and words over the picture that need not be drawn by Plotly, which draws all it has again at each position.
class Overlay {
  #node;
  #plot = null;
  #labels = null;
  #limits = []; // [{ axis, at, line, name }], nodes among them
  #dots = null; // where the slider stands on lines
  #dotNodes = [];
  #rows = []; // [{ cut, label }]
  #points = null; // words beside points that move
  #pointLabels = [];
  #index = 0;
  #placed = "";

  constructor(node) {
    this.#node = node;
  }

  build({ figure, limits, labels, points, dots }) {
    const filled = figure.data.some((trace) => trace.type === "bar" || trace.stackgroup);
    this.#labels = labels;
    this.#dots = dots;
    this.#dotNodes = (dots?.roles ?? []).map(() => element("span", "live-mark"));
    this.#points = points;
    this.#pointLabels = (points?.texts[0] ?? []).map(() => element("span", "live-point-label"));
    this.#limits = limits.map(({ name, role, ...limit }) => ({
      ...limit,
      line: element("div", `live-limit live-limit-${limit.axis} live-${role} ${filled ? "live-limit-on-fill" : ""}`),
      name: element("span", "live-limit-name", name),
    }));
    this.#rows = (labels?.texts[0] ?? []).map((_, k) => ({
      cut: element("div", "live-cut"),
      label: element("span", `live-row-label${k === labels.bold ? " live-bold" : ""}`),
    }));
    this.#placed = "";
    const rows = this.#rows.flatMap(({ cut, label }) => [cut, label]);
    const limitNodes = this.#limits.flatMap(({ line, name }) => [line, name]);
    this.#node.replaceChildren(...rows, ...limitNodes, ...this.#dotNodes, ...this.#pointLabels);
  }

  // In the colours of the theme.
  paint(colourOf) {
    this.#dotNodes.forEach((node, k) => (node.style.backgroundColor = colourOf(this.#dots.roles[k])));
  }

  show(i) {
    this.#rows.forEach(({ label, cut }, k) => {
      write(label, this.#labels.texts[i][k]);
      cut.hidden = !this.#labels.cut?.[i][k];
    });
    this.#index = i;
    this.#pointLabels.forEach((label, k) => {
      const text = this.#points.texts[i][k];
      label.hidden = !text;
      write(label, text);
    });
  }

  #placePoints(xaxis, yaxis, width, font) {
    this.#pointLabels.forEach((label, k) => {
      const [text, x, y, side, away] = ["texts", "x", "y", "sides", "away"].map((of) => this.#points[of][this.#index][k]);
      if (!text) return;
      const [up, left] = [side.startsWith("top"), side.endsWith("left")];
      const wide = widthOf(text, font);
      const start = xaxis._offset + xaxis.d2p(x) + (left ? -away - wide : away);
      const top = yaxis._offset + yaxis.d2p(y) + (up ? -away - 1.25 * font.size : away);
      put(label, Math.max(0, Math.min(start, width - wide)), top);
    });
  }

  #placeDots(xaxis, yaxis) {
    this.#dotNodes.forEach((node, k) => {
      const [x, y] = [this.#dots.x, this.#dots.y].map((of) => of[this.#index][k]);
      const [across, down] = [xaxis.d2p(x), yaxis.d2p(y)];
      node.hidden = across < -1 || across > xaxis._length + 1 || down < -1 || down > yaxis._length + 1;
      put(node, xaxis._offset + across, yaxis._offset + down);
    });
  }

  // Where the axes are now. They stand still while the slider moves, so mostly only dots and their words move.
  place(plot) {
    if (this.#plot !== plot) {
      this.#plot = plot;
      for (const event of ["plotly_relayouting", "plotly_relayout"]) plot.on(event, () => this.place(plot));
    }
    const { xaxis, yaxis, width, font } = plot._fullLayout;
    if (!xaxis || !yaxis) return; // a picture without axes
    this.#placePoints(xaxis, yaxis, width, font);
    this.#placeDots(xaxis, yaxis);
    const placed = [xaxis, yaxis].flatMap((axis) => [axis._offset, axis._length, ...axis.range]).join();
    if (placed === this.#placed) return;
    this.#placed = placed;
    this.#node.style.fontSize = `${font.size}px`;
    const end = xaxis._offset + xaxis._length;
    const pitch = Math.abs(yaxis.l2p(1) - yaxis.l2p(0));
    this.#rows.forEach(({ label, cut }, k) => {
      const middle = yaxis._offset + yaxis.l2p(k);
      put(label, end + LABEL_GAP_PX, middle);
      put(cut, end - 24, middle - 0.4 * pitch, { height: 0.8 * pitch }); // a little more than the bar
    });
    const upright = [];
    for (const { axis, at, line, name } of this.#limits) {
      const across = axis === "x" ? xaxis : yaxis;
      const inside = across.d2p(at);
      line.hidden = name.hidden = inside < 0 || inside > across._length;
      const spot = across._offset + inside;
      if (axis === "x") {
        put(line, spot, yaxis._offset, { height: yaxis._length });
        if (!line.hidden) upright.push({ name, spot });
      } else {
        put(line, xaxis._offset, spot, { width: xaxis._length });
        put(name, xaxis._offset + 4, spot - 4);
      }
    }
    const names = upright.map(({ name, spot }) => ({ name, centre: spot, wide: name.offsetWidth }));
    for (const { name, left } of apart(names, width)) put(name, left, yaxis._offset - 4);
  }
}

// Names over their lines, moved no more than keeps them apart and inside the picture.
function apart(names, width) {
  const placed = names
    .toSorted((a, b) => a.centre - b.centre)
    .map((each) => ({ ...each, left: each.centre - each.wide / 2 }));
  const after = ({ left, wide }) => left + wide + NAME_GAP_PX;
  placed.slice(1).forEach((name, k) => {
    const overlap = Math.max(0, after(placed[k]) - name.left);
    placed[k].left -= overlap / 2;
    name.left += overlap / 2;
  });
  placed.reduceRight((end, name) => (name.left = Math.min(name.left, end - name.wide)) - NAME_GAP_PX, width);
  placed.reduce((start, name) => after(Object.assign(name, { left: Math.max(name.left, start) })), 0);
  return placed;
}

// Widths come from a canvas: asking the page for them would lay it out anew at each position.
const widths = new Map();

function widthOf(text, { size, family }) {
  const key = `${size}px ${family}|${text}`;
  if (!widths.has(key)) {
    canvas.font = `${size}px ${family}`;
    widths.set(key, canvas.measureText(text).width);
  }
  return widths.get(key);
}

function put(node, left, top, size = {}) {
  Object.assign(node.style, { left: `${left}px`, top: `${top}px` });
  for (const [side, length] of Object.entries(size)) node.style[side] = `${length}px`;
}

// ---- data -----------------------------------------------------------------------------------------------------

function decodeTables({ figure, tables }) {
  const byTrace = figure.data.map(() => []);
  for (const { trace, path, points, float32 } of tables) {
    byTrace[trace].push({ path, points, rows: decodeFloat32(float32) });
  }
  return byTrace;
}

function decodeFloat32(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// The trace at one position: a shallow copy, with each table's row put at its path. Numbers are not copied.
function withRow(trace, tables = [], i) {
  const copy = { ...trace };
  for (const { path, points, rows } of tables) {
    let holder = copy;
    for (const step of path.slice(0, -1)) holder = holder[step] = { ...holder[step] };
    holder[path.at(-1)] = rows.subarray(i * points, (i + 1) * points);
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
  const theme = {
    background,
    text,
    muted: followers.muted,
    line: read("--st-border-color") || followers.muted,
    grid: read("--st-border-color-light") || read("--st-border-color"),
    surface: read("--st-secondary-background-color") || background,
    font: read("--st-font") || "sans-serif",
    scheme,
  };
  return {
    ...theme,
    signature: JSON.stringify([theme, followers]),
    colour: (role, data) => followers[role] ?? data.palette[scheme][role] ?? text,
  };
}

const canvas = document.createElement("canvas").getContext("2d");

// The browser parses any CSS colour, and answers #rrggbb.
function hex(colour) {
  canvas.fillStyle = colour;
  return canvas.fillStyle;
}

function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex(colour).slice(at, at + 2), 16) / 255);
  return 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2;
}

// Give a trace, or each of its points, the colour, pattern and dash of its role. What the figure sets itself is kept.
function dress(trace, data, theme) {
  const { role, roles, parts } = trace.meta ?? {};
  if (typeof trace.hovertemplate === "string") trace = { ...trace, hovertemplate: oneBox(trace.hovertemplate) };
  if (!role && !roles) return trace;
  const worn = parts ? { hovertext: parts, ...trace } : { ...trace };
  const fills = (roles ?? [role]).map((one) => fillOf(one, data, theme));
  const each = (property) => (roles ? fills.map((fill) => fill[property]) : fills[0][property]);
  if (trace.type === "bar") {
    // With a marker colour for each point, Plotly takes colours of its own for the patterns. So a trace of many parts
    // has one marker colour, and every part is a pattern; a solid part is one in its own colour.
    worn.marker = { color: roles ? fills[0].colour : fills[0].bgcolor, line: { width: 0 }, ...trace.marker };
    const shape = roles ? fills.map((fill) => fill.shape || "|") : fills[0].shape;
    if (shape) {
      worn.marker.pattern = {
        shape,
        bgcolor: trace.marker?.color ?? each("bgcolor"),
        fgcolor: each("fgcolor"),
        fgopacity: 1,
        size: 7,
        solidity: each("solidity"),
        ...trace.marker?.pattern,
      };
    }
    return worn;
  }
  worn.line = { color: fills[0].colour, width: 2.5, dash: dashFor(trace, data), ...trace.line };
  worn.marker = { color: each("colour"), ...trace.marker };
  if (trace.stackgroup) {
    const { shape, bgcolor, fgcolor, solidity } = fills[0];
    worn.fillcolor ??= bgcolor;
    if (shape) worn.fillpattern = { shape, bgcolor, fgcolor, fgopacity: 1, fillmode: "replace", size: 7, solidity };
  } else if (trace.fill) worn.fillcolor ??= faded(worn.line.color, 0.16);
  return worn;
}

// How a filled part looks: its colour under its pattern in a veil of the page's, or a neutral's strokes on the page.
function fillOf(role, data, theme) {
  const colour = theme.colour(role, data);
  const shape = data.patterns[role] ?? "";
  if (data.neutrals.includes(role)) return { colour, shape, bgcolor: theme.surface, fgcolor: colour, solidity: 0.35 };
  const veil = faded(hex(theme.background), theme.scheme === "dark" ? 0.3 : 0.4);
  return { colour, shape, bgcolor: colour, fgcolor: shape ? veil : colour, solidity: 0.18 };
}

// Plotly writes <extra> in a second box, in the trace's colour on white: too pale to read. One box says both.
function oneBox(template) {
  const [, extra] = /<extra>(.*?)<\/extra>/.exec(template) ?? [null, ""];
  return `${extra && `${extra}: `}${template.replace(/<extra>.*?<\/extra>/, "")}<extra></extra>`;
}

function dashFor(trace, data) {
  return data.dashes[trace.meta?.role] ?? "solid";
}

function faded(colour, opacity) {
  return colour + Math.round(255 * opacity).toString(16).padStart(2, "0");
}

// The figure's layout in the page's type and colours. A fresh object each time: Plotly keeps zoom in what it is given.
function layoutFor(data, theme, width, sides) {
  const { meta, ...own } = data.figure.layout;
  const given = width < NARROW_PX && meta?.narrow ? merged(own, meta.narrow) : { ...own };
  const size = sizeFor(width);
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
    margin: { l: 56, r: 16, t: 12, b: 44, pad: 4, ...sides, ...given.margin },
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
  if (data.labels) layout.xaxis.ticklabeloverflow ??= "allow"; // they leave room for the last tick: no need to measure
  return layout;
}

const sizeFor = (width) => (width < NARROW_PX ? 12 : 14); // of type, in pixels

// Margins that hold the longest name on the y axis and the longest label of a row.
function sidesFor(data, theme, width) {
  const size = sizeFor(width);
  const room = (texts, font) => {
    canvas.font = `${font} ${theme.font}`;
    return Math.ceil(Math.max(...texts.map((text) => canvas.measureText(plain(text)).width)));
  };
  const sides = {};
  const names = data.figure.data.flatMap(({ y }) => (typeof y?.[0] === "string" ? y : []));
  if (names.length) sides.l = room(names, `bold ${size - 1}px`) + 12;
  if (data.labels) sides.r = room(data.labels.texts.flat(), `bold ${size}px`) + LABEL_GAP_PX;
  return sides;
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
    const nested = value && typeof value === "object" && !Array.isArray(value);
    result[key] = nested ? merged(base[key] ?? {}, value) : value;
  }
  return result;
}

const coarse = window.matchMedia("(pointer: coarse)"); // a finger scrolls the page; a mouse may zoom the chart

const SYMBOLS = { circle: "\u25cf", diamond: "\u25c6", square: "\u25a0", "triangle-up": "\u25b2", cross: "\u271a" };

// A patch for a filled part, a symbol for points, a stroke for a line.
function swatchFor(trace, role, data, theme) {
  const colour = theme.colour(role, data);
  if (trace.mode?.includes("markers") && !trace.mode.includes("lines")) {
    const symbol = [trace.marker?.symbol].flat()[Math.max(0, trace.meta?.roles?.indexOf(role) ?? 0)];
    const dot = element("span", "live-swatch live-dot", SYMBOLS[symbol] ?? SYMBOLS.circle);
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

// Setting the same text again would still make the browser lay it out.
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
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
