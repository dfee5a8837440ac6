// The table of steps, and memory over the steps.

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

/** The number shows the step in the graph; below the operators stand the reasons why they are apart. */
function stepCells(step) {
  const cells = columns.map(([, text, , isNumber]) => [escaped(text(step)), isNumber]);
  cells[0][0] = `<button type="button" data-step="${step.number}" title="show in the graph">${step.number}</button>`;
  if (step.apart.length) cells[2][0] += `<ul>${step.apart.map((why) => `<li>${escaped(why)}</li>`).join("")}</ul>`;
  return cells;
}

const limits = data.limits ? `; the machine reaches ${data.limits[0].toFixed(1)} GFLOP/s and ${data.limits[1].toFixed(1)} GB/s` : "";
const steps = new SortedTable({
  table: byId("step-table"), filter: byId("filter"), count: byId("step-count"), more: byId("more"), columns, rows: data.steps,
  text: (s) => `${s.kind} ${s.name} ${s.choice} ${s.place}`, html: stepCells,
  column: isTimed ? columns.findIndex(([title]) => title === "us") : 0, down: isTimed,
  counted: (count) => `${count} steps${limits}`,
});
byId("step-table").tBodies[0].addEventListener("click", ({ target }) => {
  const operators = data.steps[target.dataset.step]?.operators ?? [];
  if (!operators.length) return;
  choose(operators[0]);
  byId("canvas").focus();
});
steps.draw();

for (const piece of data.pieces) piece.title = `${piece.tensor} ${piece.type}: ${bytesText(piece.bytes)}, ${piece.location}`;
const memory = new MemoryPicture({
  pieces: data.pieces, live: data.live, peak: data.peak, top: data.arena,
  caption: `arena ${bytesText(data.arena)}, peak of what lives ${bytesText(data.live[data.peak ?? 0] ?? 0)}`,
  moment: (at) => (data.steps[at] ? `step ${at}, ${data.steps[at].name} ${data.steps[at].place}` : "the copies behind the last step"),
  columns: [
    ["bytes", (piece) => bytesText(piece.bytes), true], ["tensor", (piece) => piece.tensor], ["type", (piece) => piece.type],
    ["steps", (piece) => `${piece.first}..${piece.last}`], ["offset", (piece) => piece.offset, true], ["line", (piece) => piece.location],
  ],
});
