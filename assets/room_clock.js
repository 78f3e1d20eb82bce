// The clock of a room: it counts in the browser from what the server said last. A screen reader hears it politely,
// when a phase begins, at three quarters of it, at its end, and when the clock stops or goes on.
export default function ({ data: [now], parentElement }) {
  let root = parentElement.querySelector(".rp-room-clock");
  if (!root) {
    root = document.createElement("div");
    root.className = "rp-room-clock";
    root.innerHTML =
      '<span class="rp-time" role="timer" aria-live="off"></span><span class="rp-rest"></span>' +
      '<span class="rp-bar" aria-hidden="true"><i></i></span><span class="rp-said" role="status" aria-live="polite"></span>';
    parentElement.append(root);
  }
  const [time, rest, bar, said] = [".rp-time", ".rp-rest", ".rp-bar i", ".rp-said"].map((name) => root.querySelector(name));
  const began = Date.now();
  const draw = () => {
    const passed = now.running ? (Date.now() - began) / 1000 : 0;
    const left = now.left - passed;
    const share = now.length > 0 ? Math.min(1, Math.max(0, 1 - left / now.length)) : 1;
    const state = !now.started ? "idle" : now.stopped ? "stopped" : left < 0 ? "over" : share >= now.warn ? "warns" : "on";
    root.dataset.state = state;
    time.textContent = now.started ? (left < 0 ? "+" : "") + minutes(left) : minutes(now.total);
    rest.textContent = !now.started
      ? "the clock has not been started"
      : `${now.stopped || (left < 0 ? "over its time" : `of ${minutes(now.length)}`)} · ${minutes(Math.max(0, now.total - passed))} of the session left`;
    bar.style.width = `${100 * share}%`;
    say(said, now.phase, state, now.stopped, left);
  };
  draw();
  const timer = setInterval(draw, 250);
  return () => clearInterval(timer);
}

// Whole seconds: 2:05 of time left means 124.2 s to 125 s, so that a clock reaches 0:00 when its time is over.
function minutes(seconds) {
  const whole = Math.ceil(Math.abs(seconds) - (seconds < 0 ? 1 : 0));
  const shown = Math.max(0, whole);
  return `${Math.floor(shown / 60)}:${String(shown % 60).padStart(2, "0")}`;
}

function say(place, phase, state, stopped, left) {
  const words = {
    idle: "",
    stopped: `Clock ${stopped}.`,
    on: `${phase}: it has begun.`,
    warns: `${phase}: three quarters of its time are over.`,
    over: `${phase}: its time is over. Nothing is cut off.`,
  }[state];
  if (place.dataset.words === words) return;
  place.dataset.words = words;
  place.textContent = words;
}
