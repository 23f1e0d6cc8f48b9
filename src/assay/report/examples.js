// Knows the example browser: filter, order, list and one example with the maps of all methods.
const data = JSON.parse(byId("data").textContent);
const STEP = 100;
const view = { found: [], at: 0, listed: STEP, numbers: false, shared: false, off: new Set(), shut: new Set(["numbers"]) };

data.examples.forEach((e, i) => {
  e.index = i;
  e.text = e.fields.map(([, pieces, unread]) => pieces.join("") + unread).join(" ");
  e.plain = `${e.id} ${data.text ? e.text : ""}`.toLowerCase();
  e.wrong = e.gold !== "" && e.gold !== e.predicted;
});
// A method's scale over all examples: the 95th percentile of its maps' largest scores.
const tops = data.methods.map((_, m) => {
  const all = data.examples.filter((e) => e.scores[m]).map((e) => topOf(unpack(e.scores[m]))).sort((a, b) => a - b);
  return all.length ? all[Math.floor(0.95 * (all.length - 1))] : 0;
});
const percent = (p) => (p === null ? "–" : `${(100 * p).toFixed(1)} %`);
const last = (value) => (value === null ? -Infinity : value);
const orders = {
  disagreement: (a, b) => last(b.disagreement) - last(a.disagreement),
  unsure: (a, b) => last(a.confidence) - last(b.confidence),
  sure: (a, b) => last(b.confidence) - last(a.confidence),
};

function filter() {
  const asked = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const label = byId("label").value;
  const wrong = byId("wrong").checked;
  view.found = data.examples.filter((e) =>
    asked.every((part) => e.plain.includes(part)) && (!label || e.gold === label || e.predicted === label) && (!wrong || e.wrong));
  const order = orders[byId("order").value];
  if (order) view.found.sort((a, b) => order(a, b) || a.index - b.index);
  view.listed = STEP;
  byId("found").textContent = `${view.found.length} of ${data.examples.length} examples`;
  drawList();
  choose(0);
}

function item(e, i) {
  const row = make("div", "item");
  row.id = `item-${i}`;
  row.setAttribute("role", "option");
  const snippet = make("span", "snippet", data.text ? Array.from(e.text.slice(0, 300)).slice(0, 90).join("") : e.id);
  snippet.dir = "auto";
  const facts = make("span", "quiet", `${e.predicted} ${percent(e.confidence)}`);
  row.append(snippet, facts);
  if (e.wrong) facts.append(make("b", "wrong", ` ✗ wrong, gold ${e.gold}`));
  row.addEventListener("click", () => choose(i));
  return row;
}

function drawList() {
  const list = byId("list");
  list.replaceChildren(...view.found.slice(0, view.listed).map(item));
  if (view.found.length > view.listed) {
    const more = make("button", "more", `Show ${Math.min(STEP, view.found.length - view.listed)} more`);
    more.type = "button";
    more.addEventListener("click", () => { view.listed += STEP; drawList(); mark(); });
    list.append(more);
  }
}

function mark() {
  const list = byId("list");
  for (const row of list.querySelectorAll("[aria-selected]")) row.removeAttribute("aria-selected");
  const row = byId(`item-${view.at}`);
  if (!row) return list.removeAttribute("aria-activedescendant");
  row.setAttribute("aria-selected", "true");
  list.setAttribute("aria-activedescendant", row.id);
  if (row.offsetTop < list.scrollTop) list.scrollTop = row.offsetTop;
  const below = row.offsetTop + row.offsetHeight - list.clientHeight;
  if (below > list.scrollTop) list.scrollTop = below;
}

function choose(i) {
  view.at = Math.max(0, Math.min(i, view.found.length - 1));
  if (view.at >= view.listed) {
    view.listed = view.at + STEP;
    drawList();
  }
  mark();
  draw();
}

function toggle(text, on, change) {
  const button = make("button", "toggle", text);
  button.type = "button";
  button.setAttribute("aria-pressed", String(on));
  button.addEventListener("click", () => { change(!on); draw(); });
  return button;
}

function step(text, by) {
  const button = make("button", "step", text);
  button.type = "button";
  button.setAttribute("aria-label", by < 0 ? "Previous example" : "Next example");
  button.disabled = view.at + by < 0 || view.at + by >= view.found.length;
  button.addEventListener("click", () => choose(view.at + by));
  return button;
}

function headOf(e) {
  const head = make("div", "example-head");
  const name = make("h3", "", `Example ${e.id}`);
  const facts = make("p", "facts");
  const tell = (text, className) => facts.append(make("span", className, text));
  tell(`predicted ${e.predicted} · ${percent(e.confidence)}`);
  if (e.gold !== "") tell(e.wrong ? `✗ wrong: gold ${e.gold}` : `✓ right: gold ${e.gold}`, e.wrong ? "wrong" : "");
  if (e.target !== e.predicted) tell(`explained: ${e.target}`);
  if (e.disagreement !== null) tell(`disagreement ${e.disagreement.toFixed(2)}`);
  const steps = make("p", "steps");
  steps.append(step("←", -1), make("span", "quiet", `${view.at + 1} / ${view.found.length}`), step("→", 1));
  head.append(name, steps, facts);
  return head;
}

function controls() {
  const bar = make("p", "toggles");
  bar.append(toggle("numbers", view.numbers, (on) => { view.numbers = on; }));
  bar.append(toggle("same scale in all examples", view.shared, (on) => { view.shared = on; }));
  data.methods.forEach((m) => bar.append(toggle(m, !view.off.has(m), (on) => (on ? view.off.delete(m) : view.off.add(m)))));
  return bar;
}

function legend() {
  const line = make("p", "legend");
  const sample = (text, className) => {
    const span = make("span", `w ${className}`, text);
    span.style.setProperty("--s", "0.75");
    return span;
  };
  line.append(sample("supports", "supports"), sample("opposes", "opposes"), make("span", "w evidence", "marked evidence"));
  line.append(make("span", "quiet", "Colours compare words of one method, not methods: each has a scale of its own."));
  return line;
}

function mapsOf(e) {
  const maps = make("div", "maps");
  const evidence = new Set(e.evidence);
  data.methods.forEach((method, m) => {
    if (view.off.has(method)) return;
    const row = make("div", "map-row");
    row.append(make("p", "method", method));
    if (e.scores[m]) {
      const scores = unpack(e.scores[m]);
      row.append(heatmap(e.fields, scores, view.shared ? tops[m] : topOf(scores), evidence, view.numbers));
    } else row.append(make("p", "quiet map", "no map: see the gaps"));
    maps.append(row);
  });
  return maps;
}

function numbersOf(e) {
  const tests = Object.keys(data.tests).filter((t) => Object.values(e.values).some((of) => t in of));
  if (!tests.length) return "";
  const table = make("table");
  const head = table.createTHead().insertRow();
  head.append(make("th", "", "method"), ...tests.map((t) => make("th", "num", t + arrowOf(t))));
  const body = table.createTBody();
  data.methods.filter((m) => e.values[m]).forEach((m) => {
    const cell = (t) => make("td", "num", t in e.values[m] ? e.values[m][t].toPrecision(3) : "–");
    body.insertRow().append(make("th", "", m), ...tests.map(cell));
  });
  return fold("numbers", "Numbers of this example", scrolling(table, "Numbers of this example"));
}

function draw() {
  const e = view.found[view.at];
  const place = byId("detail");
  if (!e) return place.replaceChildren(make("p", "notice", "No example fits this filter."));
  place.replaceChildren(headOf(e), cutOf(e), legend(), controls(), mapsOf(e), ...viewsOf(e), numbersOf(e));
}

function onKey(event) {
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity }[event.key];
  const typing = event.target.closest("input, select, textarea, .scroll");
  const away = !event.target.closest("#browser") && event.target !== document.body;
  if (by === undefined || typing || away || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === document.body && !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  event.preventDefault();
  choose(view.at + by);
}

if (byId("browser")) {
  byId("browser").hidden = false;
  byId("search").addEventListener("input", filter);
  for (const id of ["label", "order", "wrong"]) byId(id).addEventListener("change", filter);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", onKey);
  filter();
}
