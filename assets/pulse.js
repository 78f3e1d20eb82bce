// Asks the server every so often whether the room has changed; slower while the tab is hidden, never with a pace of 0.
// A worker keeps the time: browsers slow the timers of a hidden page down to one a minute.
//
// It is drawn twice. In a fragment of its own, with a pace, it beats. In the page itself, with none, it runs the whole
// page once the connection is back: a server that was restarted knows nothing of the fragments on this page.
const TICK_MS = 250;
const WORKER = `setInterval(() => postMessage(0), ${TICK_MS})`;
const AWAY = "Reconnecting. The clock goes on at the server, and what you type stays here.";
let ticking = false;
let lost = false; // the connection, since the last beat
let last = 0; // of the last beat, in ms since 1970
let send = null;
let again = null;
let pace = [0, 0];
let banner = null;

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data.length) {
    const run = (again = () => setTriggerValue("again", true));
    return () => {
      if (again === run) again = null;
    };
  }
  pace = data;
  const beat = (send = () => setTriggerValue("beat", document.hidden ? "hidden" : "visible"));
  banner = parentElement.querySelector(".rp-away");
  if (!banner) {
    banner = document.createElement("div");
    banner.className = "rp-away";
    banner.setAttribute("role", "status");
    parentElement.append(banner);
  }
  start();
  return () => {
    if (send === beat) send = null;
  };
}

function start() {
  if (ticking) return;
  ticking = true;
  document.addEventListener("visibilitychange", () => document.hidden || tick(true));
  const state = { subtree: true, attributeFilter: ["data-test-connection-state"] };
  new MutationObserver(watch).observe(document.body, state);
  new MutationObserver(closeError).observe(document.body, { childList: true });
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    worker.onmessage = () => tick(false);
    worker.onerror = () => setInterval(tick, TICK_MS, false);
  } catch {
    setInterval(tick, TICK_MS, false);
  }
}

function connected() {
  return document.querySelector("[data-testid=stApp]")?.dataset.testConnectionState === "CONNECTED";
}

function watch() {
  if (!connected()) lost = true;
  const words = send && !connected() ? AWAY : "";
  if (banner && banner.textContent !== words) banner.textContent = words;
  if (lost && connected() && again) {
    lost = false;
    last = Date.now();
    again();
  }
}

// After three seconds Streamlit opens a box of its own, once for each lost connection. It says no more than the banner,
// and takes the keys away from whoever is writing.
function closeError() {
  if (!send || connected()) return;
  for (const box of document.querySelectorAll("body > .stDialog")) {
    if (box.querySelector("h2")?.textContent === "Connection error") box.querySelector("[aria-label=Close]")?.click();
  }
}

function tick(now) {
  watch();
  const wait = pace[document.hidden ? 1 : 0];
  // Half a tick of slack: a tick that comes a millisecond early would else make each beat a tick longer.
  if (!send || !wait || !connected() || (!now && Date.now() - last < wait - TICK_MS / 2)) return;
  last = Date.now();
  send();
}
