// Puts a drawing that Python made into the page, and gives its parts the palette's colours for the theme that shows.
export default function ({ data: [data], parentElement }) {
  const root = parentElement.querySelector(".diagram");
  const colour = getComputedStyle(root).getPropertyValue("--st-background-color");
  const scheme = isDark(colour) ? "dark" : "light";
  for (const [role, value] of Object.entries(data.colours[scheme])) root.style.setProperty(`--role-${role}`, value);
  root.setAttribute("aria-label", data.alt);
  root.querySelector(".wide").innerHTML = data.wide;
  root.querySelector(".narrow").innerHTML = data.narrow;
}

function isDark(colour) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = colour.trim(); // the browser parses any CSS colour, and answers #rrggbb
  const [r, g, b] = [1, 3, 5].map((from) => parseInt(canvas.fillStyle.slice(from, from + 2), 16));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}
