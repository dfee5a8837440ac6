"use strict";
// The data of the page, and texts.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/** Text for HTML. */
function escaped(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

/** Bytes for people. */
function bytesText(count) {
  for (const [unit, scale] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (count >= scale) return `${(count / scale).toFixed(1)} ${unit}`;
  return `${count} bytes`;
}

/** A text cut to about `width` pixels. */
function cut(text, width) {
  const most = Math.floor(width / 6.6);
  return text.length > most ? text.slice(0, Math.max(most - 1, 1)) + "\u2026" : text;
}

/** Words of a search, of which all must be there. */
const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
const hasWords = (words, line) => words.every((word) => line.toLowerCase().includes(word));
