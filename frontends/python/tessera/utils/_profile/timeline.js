// The timeline: threads as rows of lanes, drawn on a canvas. An event is [lane, begin, length, category, name, place].

const { lanes, events, marks, texts } = data.timeline;
const LANE = 22, AXIS = 24, LABEL = 130;
const canvas = byId("lanes");
events.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
const whole = { begin: 0, end: events.reduce((most, [, begin, length]) => Math.max(most, begin + length), 1) };
const span = { ...whole };
let chosen = -1, found = new Set();

const textOf = (event) => [texts[event[4]], texts[event[3]], texts[event[5]]].filter(Boolean).join(", ");
const colors = { kernel: "--kernel", library: "--library", copy: "--movement", compile: "--compile", wait: "--wait", queue: "--wait" };

/** Pixels of a time. */
const xOf = (time) => LABEL + ((time - span.begin) / (span.end - span.begin)) * (canvas.clientWidth - LABEL);
const timeAt = (x) => span.begin + ((x - LABEL) / (canvas.clientWidth - LABEL)) * (span.end - span.begin);

function drawTimeline() {
  const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
  const width = canvas.clientWidth, height = AXIS + lanes.length * LANE + 4, ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  drawAxis(pen, color, width, height);
  pen.save();
  pen.beginPath();
  pen.rect(LABEL, 0, width - LABEL, height);
  pen.clip();
  drawEvents(pen, color, width);
  pen.restore();
  pen.fillStyle = color("--text");
  lanes.forEach((name, lane) => pen.fillText(cut(name, LABEL - 8), 2, AXIS + lane * LANE + LANE / 2));
}

function drawAxis(pen, color, width, height) {
  pen.strokeStyle = color("--line");
  pen.fillStyle = color("--dim");
  const step = 10 ** Math.floor(Math.log10((span.end - span.begin) / 4)) || 1;
  const every = [1, 2, 5, 10].map((n) => n * step).find((n) => (span.end - span.begin) / n <= 8);
  const line = (time, text) => {
    pen.beginPath();
    pen.moveTo(xOf(time), AXIS - 6);
    pen.lineTo(xOf(time), height);
    pen.stroke();
    pen.fillText(text, xOf(time) + 3, 10);
  };
  for (let time = Math.ceil(span.begin / every) * every; time <= span.end; time += every) line(time, timeText(time));
  pen.strokeStyle = color("--mate");
  for (const [time, name] of marks) if (time >= span.begin && time <= span.end) line(time, name);
}

/** Draws what is in sight. Of events that share a pixel of a lane only the first is drawn. */
function drawEvents(pen, color, width) {
  const covered = lanes.map(() => -1);
  const fills = Object.fromEntries(texts.map((text) => [text, color(colors[text] ?? "--group")]));
  const text = color("--text"), mark = color("--mark"), line = color("--line");
  events.forEach((event, index) => {
    const [lane, begin, length] = event;
    if (begin + length < span.begin || begin > span.end) return;
    const left = Math.max(xOf(begin), LABEL - 4), right = Math.min(Math.max(xOf(begin + length), left + 1), width + 4);
    const isMarked = index === chosen || found.has(index);
    if (right <= covered[lane] + 0.5 && !isMarked) return;
    covered[lane] = right;
    const top = AXIS + lane * LANE + 1;
    pen.fillStyle = fills[texts[event[3]]];
    pen.fillRect(left, top, right - left, LANE - 2);
    pen.strokeStyle = isMarked ? mark : line;
    pen.lineWidth = index === chosen ? 3 : 1;
    if (right - left > 3 || isMarked) pen.strokeRect(left, top, right - left, LANE - 2);
    if (right - left < 30) return;
    pen.fillStyle = text;
    pen.fillText(cut(texts[event[4]], right - left - 4), left + 3, top + LANE / 2 - 1);
  });
}

/** Shows from `begin` on, as much as `length`, within the whole. */
function show(begin, length) {
  const most = whole.end - whole.begin;
  length = Math.min(Math.max(length, 0.1), most);
  span.begin = Math.min(Math.max(begin, whole.begin), whole.end - length);
  span.end = span.begin + length;
  drawTimeline();
}
const zoomBy = (factor, time = (span.begin + span.end) / 2) => {
  const length = (span.end - span.begin) / factor;
  show(time - (time - span.begin) / factor, length);
};
const fitAll = () => show(whole.begin, whole.end - whole.begin);

/** Makes an event the chosen one, and brings it into sight. */
function chooseEvent(index) {
  if (!events.length) return;
  chosen = Math.min(Math.max(index, 0), events.length - 1);
  const [, begin, length] = events[chosen], wide = span.end - span.begin;
  if (begin > span.end || begin + length < span.begin) show(begin + length / 2 - wide / 2, wide);
  else drawTimeline();
  byId("event").textContent = `${textOf(events[chosen])}: ${timeText(length)}, from ${timeText(begin)}`;
}

const timelineKeys = {
  ArrowRight: () => chooseEvent(chosen + 1),
  ArrowLeft: () => chooseEvent(chosen - 1),
  PageDown: () => show(span.begin + (span.end - span.begin) * 0.8, span.end - span.begin),
  PageUp: () => show(span.begin - (span.end - span.begin) * 0.8, span.end - span.begin),
  Enter: () => { if (chosen >= 0) show(events[chosen][1] - events[chosen][2] / 4, events[chosen][2] * 1.5); },
  "+": () => zoomBy(1.5),
  "-": () => zoomBy(1 / 1.5),
  0: fitAll,
  Escape: fitAll,
};

function eventAt(x, y) {
  const lane = Math.floor((y - AXIS) / LANE), time = timeAt(x), near = (span.end - span.begin) / 300;
  const distance = ([, begin, length]) => Math.max(begin - time, time - begin - length, 0);
  let best = -1;
  events.forEach((event, index) => {
    if (event[0] === lane && distance(event) <= near && (best < 0 || distance(event) < distance(events[best]))) best = index;
  });
  return best;
}

function watchTimeline() {
  let drag = null;
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in timelineKeys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    timelineKeys[event.key]();
  });
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, begin: span.begin, moved: false }; });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.moved ||= Math.abs(event.clientX - drag.x) > 4;
    const wide = span.end - span.begin;
    if (drag.moved) show(drag.begin - ((event.clientX - drag.x) / (canvas.clientWidth - LABEL)) * wide, wide);
  });
  window.addEventListener("pointerup", (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    const at = drag && !drag.moved ? eventAt(event.clientX - left, event.clientY - top) : -1;
    if (at >= 0) chooseEvent(at);
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.25 : 0.8, timeAt(event.clientX - canvas.getBoundingClientRect().left));
  }, { passive: false });
  byId("zoom-in").addEventListener("click", () => zoomBy(1.5));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / 1.5));
  byId("fit").addEventListener("click", fitAll);
  window.addEventListener("resize", drawTimeline);
}

watchSearch({
  matches: (words) => {
    const list = events.map((_, index) => index).filter((index) => hasWords(words, textOf(events[index])));
    found = new Set(list);
    drawTimeline();
    return list;
  },
  label: (index) => `${textOf(events[index])}: ${timeText(events[index][2])}`,
  pick: (index) => { chooseEvent(index); timelineKeys.Enter(); canvas.focus({ preventScroll: true }); },
});
drawTimeline();
watchTimeline();
