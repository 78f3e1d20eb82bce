// The clock of a mock session: it ticks in the browser between two words of the server, whose time alone counts.
//
// data: [phase, milliseconds left of it, its whole length, milliseconds left of the session, whether it runs, a word
// for when it does not, news, whether Python wants to hear that a phase is over]. What matters is said once, politely: a
// phase begins, three quarters or all of it are over, five minutes are left, and news such as a hint that was released.

const WARN_SHARE = 0.75;
const LAST_MS = 5 * 60_000;

const clocks = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".rp-clock");
  if (!clocks.has(root)) clocks.set(root, new Clock(root));
  const clock = clocks.get(root);
  clock.update(data, () => setTriggerValue("over", true));
  return () => clock.stop();
}

class Clock {
  #root;
  #spoken;
  #timer = 0;
  #since = 0;
  #data = null;
  #said = new Set();
  #told = ""; // the phase whose end Python was told
  #tell = () => {};

  constructor(root) {
    this.#root = root;
    this.#spoken = root.querySelector(".rp-spoken");
  }

  update(data, tell) {
    this.#tell = tell;
    const first = this.#data === null;
    const [phase, , length, , , , news] = data;
    if (phase && (first || phase !== this.#data[0])) this.#once(`begin ${phase}`, `${phase}, ${minutes(length)}.`, first);
    if (news && (first || news !== this.#data[6])) this.#once(`news ${news}`, news, first);
    this.#data = data;
    this.#since = performance.now();
    this.stop();
    this.#timer = setInterval(() => this.#draw(false), 250);
    this.#draw(first);
  }

  stop() {
    clearInterval(this.#timer);
  }

  #draw(silent) {
    const [phase, left, length, whole, runs, word, , tells] = this.#data;
    const gone = runs ? performance.now() - this.#since : 0;
    const phaseLeft = left - gone;
    const wholeLeft = Math.max(0, whole - gone);
    this.#write("phase", phase);
    this.#write("left", phase ? clock(phaseLeft) : "");
    this.#write("whole", phase ? clock(wholeLeft) : "");
    this.#write("word", word);
    this.#root.classList.toggle("rp-late", Boolean(phase) && length - phaseLeft >= WARN_SHARE * length);
    if (!phase || !runs) return;
    if (length - phaseLeft >= WARN_SHARE * length && phaseLeft > 0) {
      this.#once(`warn ${phase}`, `${phase}: ${minutes(phaseLeft)} left.`, silent);
    }
    if (phaseLeft <= 0) this.#once(`over ${phase}`, `The time planned for ${phase} is over.`, silent);
    if (phaseLeft <= 0 && tells && this.#told !== phase) {
      this.#told = phase;
      this.#tell();
    }
    if (wholeLeft <= LAST_MS) this.#once("last", `${minutes(wholeLeft)} left of the session.`, silent);
  }

  #write(name, text) {
    const node = this.#root.querySelector(`[data-part=${name}]`);
    if (node.textContent !== text) node.textContent = text;
    node.parentElement.hidden = !text;
  }

  // A sentence for screen readers, once; what was true before this page was opened is not news.
  #once(what, sentence, silent) {
    if (this.#said.has(what)) return;
    this.#said.add(what);
    if (!silent) this.#spoken.textContent = sentence;
  }
}

function clock(milliseconds) {
  const seconds = Math.ceil(Math.abs(milliseconds) / 1000);
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return milliseconds < 0 ? `${text} over` : text;
}

function minutes(milliseconds) {
  const whole = Math.round(milliseconds / 60_000);
  if (whole < 1) return "less than a minute";
  return whole === 1 ? "1 minute" : `${whole} minutes`;
}
