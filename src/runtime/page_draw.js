// Drawing and tables, shared by the pages that the program writes.
const WIDTH = 1040, HEIGHT = 260, LEFT = 64, RIGHT = 12, TOP = 12, BOTTOM = 26;
const SVG = "http://www.w3.org/2000/svg";
const count = (n) => Number(n).toLocaleString("en-US");
const duration = (ns) => ns < 1e3 ? ns + "\u00a0ns" : ns < 1e6 ? (ns / 1e3).toFixed(1) + "\u00a0µs"
  : ns < 1e9 ? (ns / 1e6).toFixed(2) + "\u00a0ms" : (ns / 1e9).toFixed(2) + "\u00a0s";
const by = (id) => document.getElementById(id);

function draw(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

function axes(id, x, y, yLabel) {
  const svg = draw(by(id), "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const sx = (v) => LEFT + (v - x[0]) / (x[1] - x[0] || 1) * (WIDTH - LEFT - RIGHT);
  const sy = (v) => HEIGHT - BOTTOM - (v - y[0]) / (y[1] - y[0] || 1) * (HEIGHT - TOP - BOTTOM);
  for (let i = 0; i <= 4; i++) {
    const value = y[0] + (y[1] - y[0]) * i / 4;
    draw(svg, "line", { x1: LEFT, x2: WIDTH - RIGHT, y1: sy(value), y2: sy(value), stroke: "currentColor", opacity: .12 });
    draw(svg, "text", { x: LEFT - 6, y: sy(value) + 4, "text-anchor": "end" }, yLabel(value));
  }
  return { svg, sx, sy };
}

function path(chart, times, values, colour) {
  let d = "", pen = "M";
  values.forEach((value, i) => {
    if (value === null) { pen = "M"; return; }
    d += pen + chart.sx(times[i]).toFixed(1) + " " + chart.sy(value).toFixed(1);
    pen = "L";
  });
  draw(chart.svg, "path", { d, fill: "none", stroke: colour, "stroke-width": 1.2 });
}

function table(id, heading, rows) {
  const element = by(id);
  for (const [cells, tag] of [[heading, "th"], ...rows.map((row) => [row, "td"])]) {
    const line = element.insertRow();
    for (const cell of cells) {
      const box = document.createElement(tag);
      box.textContent = cell;
      line.appendChild(box);
    }
  }
}

function cards(rows) {
  for (const [label, value] of rows) {
    const card = document.createElement("div");
    card.className = "card";
    card.innerHTML = "<b></b><span></span>";
    card.firstChild.textContent = value;
    card.lastChild.textContent = label;
    by("cards").appendChild(card);
  }
}
