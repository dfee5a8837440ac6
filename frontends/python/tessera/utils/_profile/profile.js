// Tables of the time, and memory over it.

const counts = data.counters.map((name, index) => [name, (row) => row[5 + index].toLocaleString("en"), (row) => row[5 + index], true]);
const times = new SortedTable({
  table: byId("time-table"), filter: byId("filter"), count: byId("row-count"), more: byId("more"),
  columns: [
    ["", (row) => row[0], (row) => row[0]],
    ["calls", (row) => row[1], (row) => row[1], true],
    ["total us", (row) => row[2].toFixed(1), (row) => row[2], true],
    ["mean us", (row) => row[3].toFixed(1), (row) => row[3], true],
    ["share", (row) => `${row[4].toFixed(1)} %`, (row) => row[4], true],
    ...counts,
  ],
  rows: [], text: (row) => row[0], column: 2, down: true, counted: (count) => `${count} rows`,
});

function showBy(column) {
  times.columns[0][0] = column;
  times.rows = data.tables[column];
  times.draw();
}
byId("by").addEventListener("change", () => showBy(byId("by").value));
showBy("operator");

const heads = ["", "calls", "total us", "mean us", "longest us"];
byId("besides-table").tHead.innerHTML = `<tr>${heads.map((head, index) => headHtml(head, index > 0)).join("")}</tr>`;
byId("besides-table").tBodies[0].innerHTML = data.besides.length
  ? data.besides.map((row) => `<tr>${cellsHtml(row.map((cell, index) => [escaped(index > 1 ? cell.toFixed(1) : cell), index > 0]))}</tr>`).join("")
  : '<tr><td colspan="5">nothing was compiled, and nothing waited</td></tr>';

/** Microseconds for people. */
function timeText(us) {
  return us >= 1e6 ? `${(us / 1e6).toFixed(3)} s` : us >= 1000 ? `${(us / 1000).toFixed(3)} ms` : `${us.toFixed(1)} us`;
}

if (data.memory) {
  const { name, times: begins, live, peak, pieces, others } = data.memory;
  const isBefore = (piece) => piece.operator === "before the recording";
  for (const piece of pieces) piece.title = `${piece.operator} ${piece.type}: ${bytesText(piece.bytes)}, ${piece.location}`;
  const end = (piece) => (piece.last + 1 < live.length ? timeText(begins[piece.last + 1]) : "the end");
  var memory = new MemoryPicture({
    pieces, live, peak, top: 0, place: (at) => begins[Math.min(at, begins.length - 1)],
    caption: `${name}: peak ${bytesText(live[peak])}${others ? `; ${others} smaller blocks are in the line only` : ""}`,
    moment: (at) => timeText(begins[at]),
    columns: [
      ["bytes", (piece) => bytesText(piece.bytes), true], ["operator", (piece) => piece.operator], ["type", (piece) => piece.type],
      ["from", (piece) => (isBefore(piece) ? "before" : timeText(begins[piece.first])), true], ["to", end, true], ["line", (piece) => piece.location],
    ],
  });
} else {
  byId("live-head").textContent = "no block of memory was taken or given back";
  byId("arena").hidden = true;
}
