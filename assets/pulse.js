// Asks the server every so often whether the room has changed; slower while the tab is hidden, never with a pace of 0.
// A worker keeps the time: browsers slow the timers of a hidden page down to one a minute.
const WORKER = "setInterval(() => postMessage(0), 250)";
let ticking = false;
let last = 0; // of the last beat, in ms since 1970
let send = null;
let pace = [0, 0];
let banner = null;

export default function ({ data: [visible, hidden], parentElement, setTriggerValue }) {
  pace = [visible, hidden];
  send = () => setTriggerValue("beat", document.hidden ? "hidden" : "visible");
  banner = parentElement.querySelector(".rp-away");
  if (!banner) {
    banner = document.createElement("div");
    banner.className = "rp-away";
    banner.setAttribute("role", "status");
    parentElement.append(banner);
  }
  start();
  const own = send;
  return () => {
    if (send === own) send = null;
  };
}

function start() {
  if (ticking) return;
  ticking = true;
  document.addEventListener("visibilitychange", () => document.hidden || beat());
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    worker.onmessage = tick;
    worker.onerror = () => setInterval(tick, 250);
  } catch {
    setInterval(tick, 250);
  }
}

function tick() {
  const wait = pace[document.hidden ? 1 : 0];
  if (wait && Date.now() - last >= wait) beat();
  if (banner) {
    const app = document.querySelector("[data-testid=stApp]");
    const away = app && app.dataset.testConnectionState !== "CONNECTED";
    const words = away && send ? "Reconnecting. The clock goes on at the server; what you typed stays here." : "";
    if (banner.textContent !== words) banner.textContent = words;
  }
}

function beat() {
  if (!send) return;
  last = Date.now();
  send();
}
