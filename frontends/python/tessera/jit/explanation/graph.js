// The graph: groups that open and close, each with a layout of its own.
// A number of at least 0 is an operator, -1 - g is group g.

const BOX = { width: 190, height: 40, gap: 14, rank: 30, pad: 14, head: 26 };
const opened = new Set([0]); // groups by number
const view = { x: 0, y: 0, scale: 1 };
let chosen = -1;
let boxes = new Map(); // what is visible, in reading order

const isGroup = (ref) => ref < 0;
const groupOf = (ref) => data.groups[-1 - ref];
const labelOf = (ref) => (isGroup(ref) ? groupOf(ref)[0] : data.operators[ref][0]);
const stepOf = (ref) => data.steps[data.operators[ref][1]];

/** The group around an operator or a group, as a reference; null for the root. */
const around = new Map();
data.groups.forEach(([, , layers], g) => layers.flat().forEach((child) => around.set(child, -1 - g)));
const aroundOf = (ref) => around.get(ref) ?? null;

/** Operators within, and microseconds of the steps that begin there. */
const sums = new Map();
(function addUp() {
  const leaders = new Map(data.steps.map((step) => [step.operators[0], step.us ?? 0]));
  data.operators.forEach((_, op) => {
    for (let ref = op; ref !== null; ref = aroundOf(ref)) {
      const sum = sums.get(ref) ?? { count: 0, us: 0 };
      sum.count += 1;
      sum.us += leaders.get(op) ?? 0;
      sums.set(ref, sum);
    }
  });
})();

/** A box with those within, without a place. */
function measured(ref) {
  const box = { ref, width: BOX.width, height: BOX.height, rows: [] };
  if (!isGroup(ref) || !opened.has(-1 - ref)) return box;
  box.rows = groupOf(ref)[2].map((layer) => layer.map(measured));
  const widths = box.rows.map((row) => row.reduce((sum, each) => sum + each.width + BOX.gap, -BOX.gap));
  box.width = Math.max(BOX.width, ...widths) + 2 * BOX.pad;
  const heights = box.rows.map((row) => Math.max(...row.map((each) => each.height)));
  box.height = BOX.head + BOX.pad + heights.reduce((sum, height) => sum + height + BOX.rank, -BOX.rank);
  box.height += BOX.pad;
  box.heights = heights;
  box.widths = widths;
  return box;
}

/** Gives a box and those within their places, in reading order. */
function placed(box, x, y) {
  box.x = x;
  box.y = y;
  boxes.set(box.ref, box);
  let top = y + BOX.head + BOX.pad;
  box.rows.forEach((row, rank) => {
    let left = x + (box.width - box.widths[rank]) / 2;
    for (const each of row) {
      placed(each, left, top);
      left += each.width + BOX.gap;
    }
    top += box.heights[rank] + BOX.rank;
  });
}

/** The visible box that an operator is in. */
function visibleOf(op) {
  let ref = op;
  for (let each = aroundOf(op); each !== null; each = aroundOf(each)) if (!opened.has(-1 - each)) ref = each;
  return ref;
}

function secondLine(ref) {
  const { count, us } = sums.get(ref) ?? { count: 0, us: 0 };
  const time = us ? `, ${us.toFixed(1)} us` : "";
  return isGroup(ref) ? `${count} operators${time}` : data.operators[ref][3] + time;
}

function boxHtml(box) {
  const { ref, x, y, width, height } = box;
  const isOpen = box.rows.length > 0;
  const kind = isGroup(ref) ? "group" : (stepOf(ref)?.kind ?? "");
  const mark = isGroup(ref) ? (isOpen ? "\u25be " : "\u25b8 ") : "";
  const label = escaped(cut(mark + labelOf(ref), width - 16));
  const more = isOpen ? "" : `<text class="small" x="${x + 8}" y="${y + 33}">${escaped(cut(secondLine(ref), width - 10))}</text>`;
  return `<g class="box ${kind}" data-ref="${ref}"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/>` +
    `<text x="${x + 8}" y="${y + 17}">${label}</text>${more}<title>${escaped(labelOf(ref))}\n${escaped(secondLine(ref))}</title></g>`;
}

/** Edges between visible boxes, with how many operators each stands for. */
function visibleEdges() {
  const counts = new Map();
  const ends = data.operators.map((_, op) => visibleOf(op));
  for (const [from, to] of data.edges)
    if (ends[from] !== ends[to]) {
      const key = `${ends[from]} ${ends[to]}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  return counts;
}

function edgeHtml([key, count]) {
  const [from, to] = key.split(" ").map((ref) => boxes.get(Number(ref)));
  const [x, y] = [from.x + from.width / 2, from.y + from.height];
  const [u, v] = [to.x + to.width / 2, to.y];
  const bend = Math.max(Math.abs(v - y) / 2, 20);
  const width = 1 + Math.log2(count) / 2;
  return `<path class="edge" data-ends="${key}" stroke-width="${width}" d="M${x} ${y}C${x} ${y + bend} ${u} ${v - bend} ${u} ${v}"/>`;
}

function draw() {
  boxes = new Map();
  placed(measured(-1), 0, 0);
  const groups = [...boxes.values()];
  const frames = groups.filter((box) => box.rows.length).map(boxHtml).join("");
  const leaves = groups.filter((box) => !box.rows.length).map(boxHtml).join("");
  byId("view").innerHTML = frames + [...visibleEdges()].map(edgeHtml).join("") + leaves;
  mark();
}

function move() {
  byId("view").setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
}

function fit() {
  const { clientWidth, clientHeight } = byId("canvas");
  const root = boxes.get(-1);
  view.scale = Math.min(clientWidth / (root.width + 20), Math.max(clientHeight / (root.height + 20), 0.35), 1.5);
  view.x = (clientWidth - root.width * view.scale) / 2;
  view.y = 10;
  move();
}

function zoom(factor, x = byId("canvas").clientWidth / 2, y = byId("canvas").clientHeight / 2) {
  const scale = Math.min(Math.max(view.scale * factor, 0.02), 6);
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
  move();
}

/** Brings a box into sight, and as near as its text can be read. */
function show(ref) {
  const { clientWidth, clientHeight } = byId("canvas");
  const box = boxes.get(ref);
  const width = Math.min(box.width, 2 * BOX.width), height = Math.min(box.height, 3 * BOX.height);
  view.scale = Math.max(view.scale, 0.7);
  const left = view.x + box.x * view.scale, top = view.y + box.y * view.scale;
  if (left < 10 || left + width * view.scale > clientWidth - 10) view.x += clientWidth / 2 - left - (width * view.scale) / 2;
  if (top < 10 || top + height * view.scale > clientHeight - 10) view.y += clientHeight / 3 - top;
  move();
}

/** Shows which box is chosen, its edges, and operators of the same step. */
function mark() {
  const find = (name) => byId("view").querySelectorAll(name);
  find(".chosen, .mate").forEach((each) => each.classList.remove("chosen", "mate"));
  const mates = isGroup(chosen) ? [] : (stepOf(chosen)?.operators ?? []);
  const classes = new Map(mates.map((op) => [visibleOf(op), "mate"]));
  find(".box").forEach((each) => {
    const name = classes.get(Number(each.dataset.ref));
    if (name) each.classList.add(name);
    if (Number(each.dataset.ref) === chosen) each.classList.add("chosen");
  });
  find(".edge").forEach((each) => {
    if (chosen !== -1 && each.dataset.ends.split(" ").includes(String(chosen))) each.classList.add("chosen");
  });
}

function choose(ref) {
  for (let each = aroundOf(ref); each !== null; each = aroundOf(each)) opened.add(-1 - each);
  chosen = ref;
  boxes.has(ref) ? mark() : draw();
  show(ref);
  byId("details").innerHTML = detailsHtml(ref);
}

function detailsHtml(ref) {
  const rows = isGroup(ref) ? groupRows(ref) : operatorRows(ref);
  const list = rows.filter(([, text]) => text).map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`);
  return `<h3>${escaped(labelOf(ref))}</h3><dl>${list.join("")}</dl>`;
}

function groupRows(ref) {
  const [, , , first, last] = groupOf(ref);
  const { count, us } = sums.get(ref) ?? { count: 0, us: 0 };
  return [["operators", `${count}, from number ${first} to ${last}`], ["time", us ? `${us.toFixed(1)} us` : ""]];
}

function operatorRows(ref) {
  const [, number, place, type, reads] = data.operators[ref];
  const step = data.steps[number];
  const rows = [["makes", escaped(type)], ["reads", reads.map(escaped).join("<br>")], ["line", escaped(place)]];
  if (!step) return [...rows, ["step", "none: a view, or a constant"]];
  rows.push(["step", `${number}, ${step.kind}: ${escaped(step.name)}`], ["implementation", escaped(step.choice)]);
  rows.push(["apart because", step.apart.map(escaped).join("<br>")]);
  if (step.us !== undefined) rows.push(["reached", `${step.us} us, ${step.gflops} GFLOP/s, ${step.gbytes} GB/s`]);
  return rows;
}

function toggle(ref) {
  if (!isGroup(ref) || ref === -1) return;
  opened.has(-1 - ref) ? opened.delete(-1 - ref) : opened.add(-1 - ref);
  draw();
  choose(ref);
}

/** The chosen box, or the closed group that hides it. */
const current = () => (boxes.has(chosen) ? chosen : isGroup(chosen) ? -1 : visibleOf(chosen));

function step(by) {
  const order = [...boxes.keys()];
  choose(order[Math.min(Math.max(order.indexOf(current()) + by, 0), order.length - 1)]);
}

const graphKeys = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  ArrowRight: () => {
    const ref = current();
    if (isGroup(ref) && !opened.has(-1 - ref)) toggle(ref);
    else if (boxes.get(ref).rows.length) step(1);
  },
  ArrowLeft: () => {
    const ref = current();
    if (isGroup(ref) && ref !== -1 && opened.has(-1 - ref)) toggle(ref);
    else choose(aroundOf(ref) ?? -1);
  },
  Enter: () => toggle(current()),
  " ": () => toggle(current()),
  Escape: () => { choose(-1); fit(); },
  "+": () => zoom(1.25),
  "-": () => zoom(0.8),
  0: fit,
};

function watchGraph() {
  const canvas = byId("canvas");
  const refAt = (event) => Number(event.target.closest(".box")?.dataset.ref ?? NaN);
  let drag = null;
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in graphKeys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    graphKeys[event.key]();
  });
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(x, y) < 4) return;
    drag = { x: event.clientX, y: event.clientY, moved: true };
    view.x += x;
    view.y += y;
    move();
  });
  window.addEventListener("pointerup", (event) => {
    const ref = refAt(event);
    if (drag && !drag.moved && !Number.isNaN(ref)) choose(ref);
    drag = null;
  });
  canvas.addEventListener("dblclick", (event) => { if (!Number.isNaN(refAt(event))) toggle(refAt(event)); });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const { left, top } = canvas.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.15 : 0.87, event.clientX - left, event.clientY - top);
  }, { passive: false });
  byId("zoom-in").addEventListener("click", () => zoom(1.25));
  byId("zoom-out").addEventListener("click", () => zoom(0.8));
  byId("fit").addEventListener("click", fit);
  byId("fold").addEventListener("click", () => { opened.clear(); opened.add(0); draw(); choose(-1); fit(); });
}

/** Operators and groups that have all words. */
function matches(words) {
  const groups = data.groups.map((_, g) => -1 - g).filter((ref) => ref !== -1 && hasWords(words, labelOf(ref)));
  const operators = data.operators.map((_, op) => op).filter((op) => hasWords(words, searchLine(op)));
  return [...groups, ...operators];
}
const searchLine = (op) => [data.operators[op][0], data.operators[op][3], data.operators[op][2]].join(" ");

draw();
watchGraph();
watchSearch({
  matches,
  label: (ref) => (isGroup(ref) ? `${labelOf(ref)} (group)` : searchLine(ref)),
  pick: (ref) => { choose(ref); byId("canvas").focus({ preventScroll: true }); },
});
choose(-1);
fit();
