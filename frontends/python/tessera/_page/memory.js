// Memory over moments: boxes that live from one moment to another, and a table of those at the moment that is chosen. The
// elements are "arena", "live-head" and "live-table".

/**
 * Pieces have `first` and `last` moment, `offset`, `bytes` and `title`; `live` has bytes of each moment, and `place(at)` tells
 * where a moment begins, from 0 to `place(live.length)`. `moment(at)` puts a moment into words; columns of the table are
 * [title, text of a piece, whether it is a number].
 */
class MemoryPicture {
  constructor({ pieces, live, peak, top, caption, moment, columns, place = (at) => at }) {
    Object.assign(this, { pieces, live, peak, caption, moment, columns, place });
    this.last = Math.max(live.length - 1, 1);
    this.top = live.reduce((most, bytes) => Math.max(most, bytes), Math.max(top, 1));
    this.svg = byId("arena");
    this.watch();
    this.goTo(peak ?? 0);
  }

  isNow(piece) { return piece.first <= this.now && this.now <= piece.last; }

  draw() {
    const width = this.svg.clientWidth, height = this.svg.clientHeight, end = this.place(this.last + 1) || 1;
    const x = (at) => (this.place(at) / end) * width, y = (bytes) => height - (bytes / this.top) * (height - 18);
    const pieces = this.pieces.map((piece) => {
      const [left, wide] = [x(piece.first), Math.max(x(piece.last + 1) - x(piece.first), 0.5)];
      const tall = Math.max(y(piece.offset) - y(piece.offset + piece.bytes), 0.5);
      return `<rect class="piece${this.isNow(piece) ? " now" : ""}" x="${left}" y="${y(piece.offset + piece.bytes)}" width="${wide}" height="${tall}">` +
        `<title>${escaped(piece.title)}</title></rect>`;
    });
    const line = this.steps(x).map(([left, right, bytes]) => `${left},${y(bytes)} ${right},${y(bytes)}`).join(" ");
    const middle = (x(this.now) + x(this.now + 1)) / 2;
    this.svg.innerHTML = `${pieces.join("")}<polyline class="live" points="${line}"/>` +
      `<line class="cursor" x1="${middle}" x2="${middle}" y1="0" y2="${height}"/><text x="6" y="14">${escaped(this.caption)}</text>`;
  }

  /** What lives as [left, right, bytes]; of moments within a pixel the most. */
  steps(x) {
    const steps = [];
    this.live.forEach((bytes, at) => {
      const [left, right, before] = [x(at), x(at + 1), steps[steps.length - 1]];
      if (before && right - before[0] < 1) steps[steps.length - 1] = [before[0], right, Math.max(before[2], bytes)];
      else steps.push([left, right, bytes]);
    });
    return steps;
  }

  list() {
    const rows = this.pieces.filter((piece) => this.isNow(piece)), shown = rows.slice(0, 30), table = byId("live-table");
    const text = `${bytesText(this.live[this.now] ?? 0)} at ${this.moment(this.now)}${this.now === this.peak ? ": the peak" : ""}`;
    byId("live-head").textContent = text;
    table.tHead.innerHTML = `<tr>${this.columns.map(([title, , isNumber]) => headHtml(title, isNumber)).join("")}</tr>`;
    const more = rows.length > shown.length ? `<tr><td colspan="${this.columns.length}">${rows.length - shown.length} more</td></tr>` : "";
    const cells = (piece) => this.columns.map(([, cell, isNumber]) => [escaped(cell(piece)), isNumber]);
    table.tBodies[0].innerHTML = shown.map((piece) => `<tr>${cellsHtml(cells(piece))}</tr>`).join("") + more;
    this.svg.setAttribute("aria-valuemax", this.last);
    this.svg.setAttribute("aria-valuenow", this.now);
    this.svg.setAttribute("aria-valuetext", text);
  }

  goTo(moment) {
    this.now = Math.min(Math.max(Math.round(moment), 0), this.last);
    this.draw();
    this.list();
  }

  /** The moment at a part of the width, from 0 to 1. */
  at(part) {
    const wanted = part * this.place(this.last + 1);
    let [low, high] = [0, this.last];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.place(middle) <= wanted) low = middle; else high = middle - 1;
    }
    return low;
  }

  watch() {
    const far = Math.max(1, Math.round(this.last / 20));
    const keys = {
      ArrowRight: () => this.now + 1, ArrowUp: () => this.now + 1, ArrowLeft: () => this.now - 1, ArrowDown: () => this.now - 1,
      PageUp: () => this.now + far, PageDown: () => this.now - far, Home: () => 0, End: () => this.last, Escape: () => this.peak ?? 0,
    };
    this.svg.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      this.goTo(keys[event.key]());
    });
    this.svg.addEventListener("click", (event) => {
      const { left, width } = this.svg.getBoundingClientRect();
      this.goTo(this.at((event.clientX - left) / width));
    });
    window.addEventListener("resize", () => this.draw());
  }
}
