// Knows experiments: opening one of several, filtering them, saving a chart as SVG and numbers as CSV.
const lines = (rows) => rows.map((row) => row.map((cell) => csvCell(String(cell ?? ""))).join(",")).join("\r\n");

// The numbers of a table in full: ours, its interval and the paper's, each in a column of its own.
function tableRows(table) {
  const rows = cellsOf(table);
  const has = (i, key) => rows.some((row) => row[i]?.dataset[key] !== undefined);
  const parts = headsOf(table).map((_, i) => ["low", "high", "paper"].filter((key) => has(i, key)));
  const heads = headsOf(table).flatMap((head, i) => [head, ...parts[i].map((key) => `${head} ${key}`)]);
  const value = (cell) => cell.dataset.value ?? cell.querySelector(".v")?.textContent ?? cell.textContent;
  return [heads, ...rows.map((row) => row.flatMap((cell, i) => [value(cell).trim(), ...parts[i].map((key) => cell.dataset[key])]))];
}

function chartRows({ x, y, series }) {
  const bounds = series.some((s) => s.low.length) ? ["low", "high"] : [];
  const points = (s) => s.x.map((at, i) => [s.name, at, s.y[i], ...bounds.map((key) => s[key][i])]);
  return [["series", x, y, ...bounds], ...series.flatMap(points)];
}

function save(content, type, name) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`${name} saved`);
}

const charts = JSON.parse(byId("data").textContent);
const fileName = (figure, ending) => {
  const title = figure.querySelector(".sub").textContent.trim().toLowerCase();
  return `${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || figure.id}.${ending}`;
};

for (const button of document.querySelectorAll("[data-save]")) {
  const figure = byId(button.dataset.of);
  const kind = button.dataset.save;
  button.parentElement.hidden = false;
  button.addEventListener("click", () => {
    if (kind === "svg") {
      save(new XMLSerializer().serializeToString(figure.querySelector("svg.chart")), "image/svg+xml", fileName(figure, "svg"));
    } else {
      const rows = charts[figure.id] ? chartRows(charts[figure.id]) : tableRows(figure.querySelector("table"));
      save(lines(rows), "text/csv;charset=utf-8", fileName(figure, "csv"));
    }
  });
}

// Several experiments: the index, or one of them; the address keeps which, so that going back works.
const index = byId("index");
const exhibits = [...document.querySelectorAll("article.exhibit")];
const head = document.querySelector("header");

function open() {
  const place = byId(decodeURIComponent(location.hash.slice(1)) || "index") ?? index;
  const chosen = place.closest("article.exhibit");
  for (const exhibit of exhibits) exhibit.hidden = exhibit !== chosen;
  index.hidden = head.hidden = chosen !== null;
  place.scrollIntoView({ behavior: "instant" });
}

function filter() {
  const wanted = [...index.querySelectorAll("[data-facet]")].map((select) => select.value);
  for (const row of index.querySelector("table.index").tBodies[0].rows) {
    row.hidden = wanted.some((value, i) => value !== "" && row.cells[i].textContent.trim() !== value);
  }
}

if (index) {
  const form = index.querySelector(".filters");
  form.hidden = exhibits.length < 4;
  form.addEventListener("change", filter);
  addEventListener("hashchange", open);
  open();
}
