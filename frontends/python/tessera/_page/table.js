// A table that is sorted by its heads and filtered by words.

/** Cells of a row: pairs of HTML, and whether it is a number. */
function cellsHtml(cells) {
  return cells.map(([text, isNumber]) => `<td${isNumber ? ' class="number"' : ""}>${text}</td>`).join("");
}

/** A head that does not sort. */
function headHtml(title, isNumber) {
  return `<th scope="col"${isNumber ? ' class="number"' : ""}>${escaped(title)}</th>`;
}

/**
 * Columns are [title, text of a row, what it is sorted by, whether it is a number]. Elements: `table`, `filter` (an input),
 * `count` (an output) and `more` (a button). `text` gives the words of a row, `html` its cells where texts do not do.
 */
class SortedTable {
  constructor({ table, filter, count, more, columns, rows, text, html, column, down, counted }) {
    Object.assign(this, { table, filter, count, more, columns, rows, text, column, down, counted });
    this.html = html ?? ((row) => this.columns.map(([, cell, , isNumber]) => [escaped(cell(row)), isNumber]));
    this.most = 200;
    filter.addEventListener("input", () => this.draw());
    more.addEventListener("click", () => { this.most += 1000; this.draw(); });
    table.tHead.addEventListener("click", ({ target }) => { if (target.dataset.column) this.sortBy(Number(target.dataset.column)); });
  }

  sortBy(column) {
    this.down = column === this.column ? !this.down : Boolean(this.columns[column][3]) && column !== 0;
    this.column = column;
    this.draw();
    this.table.querySelector(`[data-column="${column}"]`).focus();
  }

  headHtml() {
    return this.columns.map(([title, , , isNumber], index) => {
      const isSorted = index === this.column;
      const sorted = isSorted ? ` aria-sort="${this.down ? "descending" : "ascending"}"` : "";
      const arrow = isSorted ? (this.down ? " \u25be" : " \u25b4") : "";
      return `<th scope="col"${sorted}${isNumber ? ' class="number"' : ""}><button type="button" data-column="${index}">${escaped(title)}${arrow}</button></th>`;
    }).join("");
  }

  draw() {
    const words = wordsOf(this.filter.value);
    const [, , key] = this.columns[this.column], sign = this.down ? -1 : 1;
    const compared = (a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0);
    const rows = this.rows.filter((row) => hasWords(words, this.text(row))).sort(compared);
    this.table.tHead.innerHTML = `<tr>${this.headHtml()}</tr>`;
    this.table.tBodies[0].innerHTML = rows.slice(0, this.most).map((row) => `<tr>${cellsHtml(this.html(row))}</tr>`).join("");
    this.count.textContent = `${Math.min(rows.length, this.most)} of ${this.counted(this.rows.length)}`;
    this.more.hidden = rows.length <= this.most;
  }
}
