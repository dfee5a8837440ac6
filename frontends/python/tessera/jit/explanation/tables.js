// The table of steps, and memory over the steps.

/** Columns: title, text of a row, what it is sorted by, whether it is a number. */
const isTimed = data.steps.some((each) => each.us !== undefined);
const columns = [
  ["step", (s) => s.number, (s) => s.number, true],
  ["kind", (s) => s.kind, (s) => s.kind],
  ["operators", (s) => s.name, (s) => s.name],
  ["implementation", (s) => s.choice || (s.launch !== s.number ? `in the launch of step ${s.launch}` : ""), (s) => s.choice],
  ["line", (s) => s.place, (s) => s.place],
  ["MFLOP", (s) => s.mflop.toFixed(2), (s) => s.mflop, true],
  ["bytes", (s) => bytesText(s.bytes), (s) => s.bytes, true],
  ...(isTimed ? [
    ["us", (s) => s.us?.toFixed(1) ?? "", (s) => s.us ?? -1, true],
    ["GFLOP/s", (s) => s.gflops?.toFixed(1) ?? "", (s) => s.gflops ?? -1, true],
    ["GB/s", (s) => s.gbytes?.toFixed(1) ?? "", (s) => s.gbytes ?? -1, true],
    ["% of limit", (s) => s.limit?.toFixed(0) ?? "", (s) => s.limit ?? -1, true],
  ] : []),
];
data.steps.forEach((each, number) => { each.number = number; });
const order = { column: isTimed ? columns.findIndex(([title]) => title === "us") : 0, down: isTimed, rows: 200 };

function cellsHtml(cells) {
  return cells.map(([text, isNumber]) => `<td${isNumber ? ' class="number"' : ""}>${text}</td>`).join("");
}

function stepHtml(each) {
  const cells = columns.map(([title, text, , isNumber]) => [escaped(text(each)), isNumber]);
  cells[0][0] = `<button type="button" data-step="${each.number}" title="show in the graph">${each.number}</button>`;
  if (each.apart.length) cells[2][0] += `<ul>${each.apart.map((why) => `<li>${escaped(why)}</li>`).join("")}</ul>`;
  return `<tr>${cellsHtml(cells)}</tr>`;
}

function drawSteps() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (each) => words.every((word) => `${each.kind} ${each.name} ${each.choice} ${each.place}`.toLowerCase().includes(word));
  const [, , key] = columns[order.column], sign = order.down ? -1 : 1;
  const rows = data.steps.filter(has).sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : a.number - b.number));
  const head = columns.map(([title, , , isNumber], index) => {
    const sorted = index === order.column ? ` aria-sort="${order.down ? "descending" : "ascending"}"` : "";
    const arrow = index === order.column ? (order.down ? " \u25be" : " \u25b4") : "";
    return `<th scope="col"${sorted}${isNumber ? ' class="number"' : ""}><button type="button" data-column="${index}">${title}${arrow}</button></th>`;
  });
  byId("step-table").tHead.innerHTML = `<tr>${head.join("")}</tr>`;
  byId("step-table").tBodies[0].innerHTML = rows.slice(0, order.rows).map(stepHtml).join("");
  const limits = data.limits ? `; the machine reaches ${data.limits[0].toFixed(1)} GFLOP/s and ${data.limits[1].toFixed(1)} GB/s` : "";
  byId("step-count").textContent = `${Math.min(rows.length, order.rows)} of ${data.steps.length} steps${limits}`;
  byId("more").hidden = rows.length <= order.rows;
}

function watchSteps() {
  byId("filter").addEventListener("input", drawSteps);
  byId("more").addEventListener("click", () => { order.rows += 1000; drawSteps(); });
  byId("step-table").addEventListener("click", ({ target }) => {
    if (target.dataset.column) {
      const column = Number(target.dataset.column);
      order.down = column === order.column ? !order.down : Boolean(columns[column][3]) && column !== 0;
      order.column = column;
      drawSteps();
      byId("step-table").querySelector(`[data-column="${column}"]`).focus();
    }
    const operators = data.steps[target.dataset.step]?.operators ?? [];
    if (operators.length) {
      choose(operators[0]);
      byId("canvas").focus();
    }
  });
}

//===-- Memory --===//

const last = Math.max(data.live.length - 1, 1);
let now = data.peak ?? 0;

function drawArena() {
  const svg = byId("arena"), width = svg.clientWidth, height = svg.clientHeight;
  const top = Math.max(data.arena, ...sample(data.live), 1);
  const x = (at) => (at / (last + 1)) * width, y = (bytes) => height - (bytes / top) * (height - 18);
  const pieces = data.pieces.map((piece) => {
    const state = piece.first <= now && now <= piece.last ? " now" : "";
    const [left, wide] = [x(piece.first), Math.max(x(piece.last + 1) - x(piece.first), 0.5)];
    const tall = Math.max(y(piece.offset) - y(piece.offset + piece.bytes), 0.5);
    return `<rect class="piece${state}" x="${left}" y="${y(piece.offset + piece.bytes)}" width="${wide}" height="${tall}">` +
      `<title>${escaped(piece.tensor)} ${escaped(piece.type)}: ${bytesText(piece.bytes)}, ${escaped(piece.location)}</title></rect>`;
  });
  const line = sample(data.live.map((bytes, at) => `${x(at)},${y(bytes)} ${x(at + 1)},${y(bytes)}`)).join(" ");
  svg.innerHTML = `${pieces.join("")}<polyline class="live" points="${line}"/>` +
    `<line class="cursor" x1="${x(now + 0.5)}" x2="${x(now + 0.5)}" y1="0" y2="${height}"/>` +
    `<text x="6" y="14">arena ${bytesText(data.arena)}, peak of what lives ${bytesText(data.live[data.peak ?? 0] ?? 0)}</text>`;
}

/** At most some thousands of a list, evenly. */
function sample(list, most = 4000) {
  const stride = Math.ceil(list.length / most) || 1;
  return list.filter((_, index) => index % stride === 0);
}

function drawLive() {
  const rows = data.pieces.filter((piece) => piece.first <= now && now <= piece.last);
  const shown = rows.slice(0, 30);
  const where = data.steps[now] ? `step ${now}, ${data.steps[now].name} ${data.steps[now].place}` : "the copies behind the last step";
  const text = `${bytesText(data.live[now] ?? 0)} at ${where}${now === data.peak ? ": the peak" : ""}`;
  byId("live-head").textContent = text;
  byId("live-table").tHead.innerHTML = "<tr>" + ["bytes", "tensor", "type", "steps", "offset", "line"].map((t) => `<th scope="col">${t}</th>`).join("") + "</tr>";
  byId("live-table").tBodies[0].innerHTML = shown.map((piece) => "<tr>" + cellsHtml([
    [bytesText(piece.bytes), true], [escaped(piece.tensor)], [escaped(piece.type)], [`${piece.first}..${piece.last}`],
    [piece.offset, true], [escaped(piece.location)],
  ]) + "</tr>").join("") + (rows.length > shown.length ? `<tr><td colspan="6">${rows.length - shown.length} more</td></tr>` : "");
  byId("arena").setAttribute("aria-valuemax", last);
  byId("arena").setAttribute("aria-valuenow", now);
  byId("arena").setAttribute("aria-valuetext", text);
}

function goTo(step) {
  now = Math.min(Math.max(Math.round(step), 0), last);
  drawArena();
  drawLive();
}

function watchArena() {
  const far = Math.max(1, Math.round(last / 20));
  const keys = {
    ArrowRight: () => goTo(now + 1), ArrowUp: () => goTo(now + 1), ArrowLeft: () => goTo(now - 1), ArrowDown: () => goTo(now - 1),
    PageUp: () => goTo(now + far), PageDown: () => goTo(now - far), Home: () => goTo(0), End: () => goTo(last),
    Escape: () => goTo(data.peak ?? 0),
  };
  byId("arena").addEventListener("keydown", (event) => {
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  byId("arena").addEventListener("click", (event) => {
    const { left, width } = byId("arena").getBoundingClientRect();
    goTo(Math.floor(((event.clientX - left) / width) * (last + 1)));
  });
  window.addEventListener("resize", drawArena);
}

drawSteps();
watchSteps();
goTo(now);
watchArena();
