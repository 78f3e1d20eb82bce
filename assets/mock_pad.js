// The candidate's scratchpad: a text area that saves itself while it is written in, and is never written into.
//
// Python sends the text that the room holds, a token, why the last text was refused if it was, after how long without a
// letter to remind of thinking aloud (0: never), and the room. The text area takes the text when the token is new (first
// drawing, another tab wrote), and at no other time: a twist, a hint or the clock runs the page again without touching
// what is typed or where the caret stands. Where both tabs have written, the other's new lines are put below one's own.
// What is sent carries the token, so that Python knows upon which text it was written. What is not saved yet lies in the
// session storage of this tab: the text area itself is drawn anew by a reload, and by the first page run of a server that
// was restarted.

const SAVE_MS = 2000; // from the first letter that is not saved yet
const AGAIN_MS = 5000; // without word from the room, after a dropped connection say

const TOLD_MS = 30_000; // that another tab wrote as well

const THINK_ALOUD = "Think aloud: what are you weighing up right now?";
const BOTH_WROTE = "Another tab of yours wrote here at the same time: its lines stand below yours.";

const OWN_TEXTS = 6;
const DRAFT = "ridgepoint.pad.";

const pads = new WeakMap();
const drawn = new Set(); // those of `pads` that may still be on the page

document.addEventListener("visibilitychange", () => {
  forgetGone();
  if (document.hidden) drawn.forEach((pad) => pad.flush());
});

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".rp-pad");
  if (!pads.has(root)) {
    forgetGone();
    pads.set(root, new Pad(root));
    drawn.add(pads.get(root));
  }
  const pad = pads.get(root);
  pad.update(data, (text) => setTriggerValue("text", text));
}

function forgetGone() {
  drawn.forEach((pad) => pad.gone && drawn.delete(pad));
}

// What another tab has added since both had `before`, as whole lines.
function addedLines(before, theirs, mine) {
  const known = new Set([...before.split("\n"), ...mine.split("\n")]);
  return theirs.split("\n").filter((line) => line.trim() && !known.has(line));
}

// A draft goes on from the room's text, or, where another tab has written meanwhile, stands below it.
function merged({ text, own }, kept) {
  if (!kept || own.includes(kept) || text.includes(kept)) return text;
  return kept.includes(text) ? kept : `${kept}\n\n${text}`;
}

class Pad {
  #area;
  #status;
  #reminder;
  #both;
  #token = null;
  #room = null;
  #own = []; // texts of this tab that the room may hold
  #kept = ""; // what the room holds
  #sent = null; // what was sent last
  #refused = null; // the text that the room did not take
  #why = "";
  #timer = 0;
  #rest = 0;
  #remindMs = 0;
  #told = 0;
  #send = () => {};

  constructor(root) {
    this.#area = root.querySelector("textarea");
    this.#status = root.querySelector(".rp-status");
    this.#reminder = root.querySelector(".rp-reminder");
    this.#both = root.querySelector(".rp-both");
    this.#area.addEventListener("input", () => this.#typed());
    this.#area.addEventListener("blur", () => this.flush());
  }

  get gone() {
    return !this.#area.isConnected;
  }

  update([kept, token, refused, remindMs, room], send) {
    this.#send = send;
    this.#room = room;
    // What is typed and not saved wins: after a lost connection the room knows it from nobody else.
    const unsaved = this.#token !== null && this.#dirty();
    const draft = this.#token === null ? this.#draft() : null;
    const another = unsaved && token !== this.#token && !this.#own.includes(kept);
    if (another) this.#takeIn(addedLines(this.#kept, kept, this.#area.value));
    this.#kept = kept;
    this.#mine(kept);
    if (token !== this.#token) {
      this.#token = token;
      if (!unsaved) this.#area.value = draft ? merged(draft, kept) : kept;
    }
    // While a text was on its way more may have been typed: only what was sent is known to be refused.
    this.#refused = refused ? this.#sent : null;
    this.#why = refused;
    this.#say();
    this.#keepDraft();
    if (this.#dirty()) this.#plan(SAVE_MS);
    if (remindMs !== this.#remindMs) {
      this.#remindMs = remindMs;
      this.#restart();
    }
  }

  // Save now what is not saved.
  flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.#dirty() || !this.#area.isConnected) return;
    this.#sent = this.#area.value;
    this.#mine(this.#sent);
    this.#keepDraft();
    this.#say();
    this.#send([this.#token, this.#sent]);
    this.#plan(AGAIN_MS);
  }

  // Below one's own, so that the caret stays where it is.
  #takeIn(lines) {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!lines.length) return;
    const { value, selectionStart, selectionEnd, scrollTop } = this.#area;
    this.#area.value = `${value}${value.endsWith("\n") ? "\n" : "\n\n"}${lines.join("\n")}`;
    this.#area.setSelectionRange(selectionStart, selectionEnd);
    this.#area.scrollTop = scrollTop;
    this.#both.textContent = BOTH_WROTE;
    clearTimeout(this.#told);
    this.#told = setTimeout(() => (this.#both.textContent = ""), TOLD_MS);
  }

  // What the text was written upon and what was sent: word of it may be lost with the connection.
  #mine(text) {
    this.#own = [...this.#own.filter((each) => each !== text), text].slice(-OWN_TEXTS);
  }

  #keepDraft() {
    const text = this.#area.value;
    try {
      if (text === this.#kept) sessionStorage.removeItem(DRAFT + this.#room);
      else sessionStorage.setItem(DRAFT + this.#room, JSON.stringify({ text, own: this.#own }));
    } catch {} // refused or full: the text area still has it
  }

  #draft() {
    try {
      return JSON.parse(sessionStorage.getItem(DRAFT + this.#room));
    } catch {
      return null;
    }
  }

  #typed() {
    this.#keepDraft();
    this.#plan(SAVE_MS);
    this.#restart();
  }

  #restart() {
    clearTimeout(this.#rest);
    this.#reminder.textContent = "";
    if (!this.#remindMs) return;
    this.#rest = setTimeout(() => (this.#reminder.textContent = THINK_ALOUD), this.#remindMs);
  }

  #dirty() {
    return this.#area.value !== this.#kept && this.#area.value !== this.#refused;
  }

  #plan(wait) {
    this.#say();
    if (!this.#timer) this.#timer = setTimeout(() => this.flush(), wait);
  }

  #say() {
    const refused = this.#refused !== null && this.#area.value === this.#refused;
    const words = refused ? this.#why : this.#dirty() ? "Not saved yet" : "Saved";
    if (this.#status.textContent !== words) this.#status.textContent = words;
    this.#status.classList.toggle("rp-refused", refused);
    // Only a refusal is read out: "saved" every two seconds would drown everything else.
    this.#status.setAttribute("aria-live", refused ? "assertive" : "off");
  }
}
