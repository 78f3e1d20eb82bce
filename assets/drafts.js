// Keeps what is typed into the text boxes of a form until Python has it: over a reload, a lost connection and a server
// that was restarted, whose first page run draws every box anew and empty.
//
// Python sends a name for the form, the room, a token that is new whenever it has kept what was sent or has itself
// written into the boxes ("" before it ever did), the boxes' classes in a fixed order, a token that is new whenever what
// was sent was refused, and the texts that it has kept, if those are what the first token is about: what was typed while
// that word was on its way is another text. Drafts lie in the session storage of this tab and end with it.
const PREFIX = "ridgepoint.draft.";
const LOOK_MS = 250; // for a box that was drawn anew
const UNHEARD_LOOKS = 12; // with nothing running: an empty box whose text Python did not confirm was not heard

const NOTHING_LOOKS = 40; // without a box on the page: another page is open, and this one's first drawing starts anew

const forms = new Map(); // by name, of which there are a few: another room's form takes the place of this one
let timer = 0;
let nothing = 0; // looks that found no box
let lost = false; // the connection

export default function ({ data: [name, room, token, classes, back, sent] }) {
  const before = forms.get(name);
  const known = before?.room === room ? before : { token: "", back, boxes: [] };
  const boxes = classes.map((each, at) => ({
    each,
    place: `${PREFIX}${room}.${name}.${at}`,
    seen: known.boxes[at]?.seen,
    restored: known.boxes[at]?.restored,
    unheard: known.boxes[at]?.unheard,
  }));
  forms.set(name, { room, token, back, boxes });
  if (known !== before) boxes.forEach(keepEarly);
  if (token && token !== known.token) boxes.forEach((box, at) => forget(box, sent[at]));
  if (back !== known.back) boxes.forEach((box) => (box.wanted = true)); // a form empties its boxes when it is sent
  start();
  look();
}

document.addEventListener("input", typed, true);

function start() {
  nothing = 0;
  timer ||= setInterval(look, LOOK_MS);
}

function rest() {
  clearInterval(timer);
  timer = 0;
}

function connected() {
  return document.querySelector("[data-testid=stApp]")?.dataset.testConnectionState === "CONNECTED";
}

function field(box) {
  return document.querySelector(`.${box.each} :is(input, textarea)`);
}

function allBoxes() {
  return [...forms.values()].flatMap((form) => form.boxes);
}

function typed({ target }) {
  for (const box of allBoxes()) {
    if (!target.closest?.(`.${box.each}`)) continue;
    if (target.value !== box.restored) box.restored = null;
    store(box, target.value);
  }
}

// Typed while this script was still on its way.
function keepEarly(box) {
  const text = field(box)?.value;
  if (text && !stored(box)) store(box, text);
}

function idle() {
  return connected() && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning";
}

function look() {
  const back = connected() && lost;
  lost = !connected();
  if (++nothing > NOTHING_LOOKS) rest();
  for (const box of allBoxes()) {
    const found = field(box);
    if (!found) continue;
    nothing = 0;
    // A line that was sent down a dead connection, or to a server that was just starting the page anew, has left an
    // empty box, and no word from Python.
    box.unheard = idle() && !found.value && stored(box) ? (box.unheard ?? 0) + 1 : 0;
    if (back || found !== box.seen || box.unheard >= UNHEARD_LOOKS) box.wanted = true;
    box.seen = found;
    if (!box.wanted || found.disabled || found.closest("[inert]")) continue;
    box.wanted = false;
    const text = stored(box);
    if (text && !found.value) write(found, (box.restored = text));
  }
}

function forget(box, sent) {
  if (sent !== undefined && stored(box) !== sent) return;
  const found = field(box);
  // Put back while Python's word that it was kept was on its way.
  if (found && box.restored && found.value === box.restored) write(found, "");
  box.restored = null;
  store(box, "");
}

// As a hand would: the page's own script has to hear of it.
function write(found, text) {
  const kind = found.tagName === "TEXTAREA" ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(found, text);
  found.dispatchEvent(new Event("input", { bubbles: true }));
}

// Where storage is refused or full, the box itself still holds the text.
function store(box, text) {
  try {
    if (text) sessionStorage.setItem(box.place, text);
    else sessionStorage.removeItem(box.place);
  } catch {}
}

function stored(box) {
  try {
    return sessionStorage.getItem(box.place);
  } catch {
    return null;
  }
}
