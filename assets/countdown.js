// Counts down to zero in minutes and seconds, then tells the page once.
export default function ({ data: [milliseconds], parentElement, setTriggerValue }) {
  const end = performance.now() + milliseconds;
  let clock = parentElement.querySelector(".rp-clock");
  if (!clock) {
    clock = document.createElement("span");
    clock.className = "rp-clock";
    clock.setAttribute("role", "timer");
    parentElement.append(clock);
  }
  const draw = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (left === 0) {
      clearInterval(timer);
      setTriggerValue("over", true);
    }
  };
  const timer = setInterval(draw, 250);
  draw();
  return () => clearInterval(timer);
}
