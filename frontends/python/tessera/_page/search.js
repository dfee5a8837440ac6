// A search with a list of what it found. Its elements are "search", "found" and "found-count".

/** `matches(words)` gives what is found, `label` a text for it, and `pick` is called with what the user chooses. */
function watchSearch({ matches, label, pick }) {
  const input = byId("search"), list = byId("found"), most = 50;
  let found = [];
  const clear = () => { input.value = ""; list.hidden = true; byId("found-count").textContent = ""; input.focus(); };
  input.addEventListener("input", () => {
    const words = wordsOf(input.value);
    found = words.length ? matches(words) : [];
    list.hidden = !found.length;
    list.innerHTML = found.slice(0, most)
      .map((each, index) => `<li><button type="button" data-index="${index}">${escaped(label(each))}</button></li>`)
      .join("");
    const more = found.length > most ? `, the first ${most} shown` : "";
    byId("found-count").textContent = words.length ? `${found.length} found${more}` : "";
  });
  input.addEventListener("keydown", (event) => {
    const first = list.querySelector("button");
    if (event.key === "Escape") clear();
    else if (event.key === "Enter" && first) pick(found[0]);
    else if (event.key === "ArrowDown" && first) first.focus();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => { if (event.target.dataset.index) pick(found[event.target.dataset.index]); });
  list.addEventListener("keydown", (event) => {
    const item = event.target.closest("li");
    if (event.key === "Escape") clear();
    else if (event.key === "ArrowDown") item.nextElementSibling?.firstElementChild.focus();
    else if (event.key === "ArrowUp") (item.previousElementSibling?.firstElementChild ?? input).focus();
    else return;
    event.preventDefault();
  });
}
