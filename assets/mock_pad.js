// The candidate's scratchpad: a text area that saves itself while it is written in, and is never written into.
//
// Python sends the text that the room holds, a token, why the last text was refused if it was, and after how long
// without a letter to remind of thinking aloud (0: never). The text area takes the text when the token is new (first drawing,
// another tab wrote), and at no other time: a twist, a hint or the clock runs the page again without touching what is
// typed or where the caret stands.

const SAVE_MS = 2000; // from the first letter that is not saved yet
const AGAIN_MS = 5000; // without word from the room, after a dropped connection say

const THINK_ALOUD = "Think aloud: what are you weighing up right now?";

const pads = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".rp-pad");
  if (!pads.has(root)) pads.set(root, new Pad(root));
  const pad = pads.get(root);
  pad.update(data, (text) => setTriggerValue("text", text));
}

class Pad {
  #area;
  #status;
  #reminder;
  #token = null;
  #kept = ""; // what the room holds
  #sent = null; // what was sent last
  #refused = null; // the text that the room did not take
  #why = "";
  #timer = 0;
  #rest = 0;
  #remindMs = 0;
  #send = () => {};

  constructor(root) {
    this.#area = root.querySelector("textarea");
    this.#status = root.querySelector(".rp-status");
    this.#reminder = root.querySelector(".rp-reminder");
    this.#area.addEventListener("input", () => this.#typed());
    this.#area.addEventListener("blur", () => this.flush());
    document.addEventListener("visibilitychange", () => document.hidden && this.flush());
  }

  update([kept, token, refused, remindMs], send) {
    this.#send = send;
    // What is typed and not saved wins: after a lost connection the room knows it from nobody else.
    const unsaved = this.#token !== null && this.#dirty();
    this.#kept = kept;
    if (token !== this.#token) {
      this.#token = token;
      if (!unsaved) this.#area.value = kept;
    }
    // While a text was on its way more may have been typed: only what was sent is known to be refused.
    this.#refused = refused ? this.#sent : null;
    this.#why = refused;
    this.#say();
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
    this.#say();
    this.#send(this.#sent);
    this.#plan(AGAIN_MS);
  }

  #typed() {
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
