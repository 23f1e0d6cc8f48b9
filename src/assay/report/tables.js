// Knows tables: sorting by a click on the head, and copying as Markdown or CSV.
const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

function cellsOf(table) {
  return [...table.tBodies[0].rows].map((row) => [...row.cells]);
}

function headsOf(table) {
  return [...table.tHead.rows[0].cells].map((cell) => cell.dataset.name);
}

function shown(cell) {
  const value = cell.querySelector(".v");
  const under = [...cell.querySelectorAll("small")].map((s) => s.textContent);
  return [value ? value.textContent.trim() : cell.textContent.trim(), ...under].join(" ");
}

function asMarkdown(table) {
  const tidy = (text) => text.replace(/\s+/g, " ").replace(/([\\|<>&`*_[\]])/g, "\\$1");
  const line = (texts) => `| ${texts.map(tidy).join(" | ")} |`;
  const heads = headsOf(table);
  return [line(heads), `|${" --- |".repeat(heads.length)}`, ...cellsOf(table).map((row) => line(row.map(shown)))].join("\n");
}

// A spreadsheet must not take a text for a formula.
function csvCell(text) {
  const plain = !isNumber(text) && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function asCsv(table) {
  const rows = cellsOf(table);
  const heads = headsOf(table);
  const wide = heads.map((_, i) => rows.some((row) => row[i].dataset.low !== undefined));
  const spread = (texts, i) => (wide[i] ? texts : texts.slice(0, 1));
  const first = heads.flatMap((head, i) => spread([head, `${head} low`, `${head} high`, `${head} mark`], i));
  const parts = (cell) => [cell.dataset.value ?? shown(cell), cell.dataset.low ?? "", cell.dataset.high ?? "", cell.dataset.mark ?? ""];
  return [first, ...rows.map((row) => row.flatMap((cell, i) => spread(parts(cell), i)))]
    .map((line) => line.map(csvCell).join(",")).join("\r\n");
}

function compare(a, b) {
  const [x, y] = [a, b].map((cell) => cell.dataset.value ?? cell.textContent.trim());
  if (isNumber(x) && isNumber(y)) return Number(x) - Number(y);
  if (isNumber(x) !== isNumber(y)) return isNumber(x) ? -1 : 1;
  return x.localeCompare(y);
}

function sortBy(table, head) {
  const at = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
  const start = head.classList.contains("num") ? down : -down;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => start * compare(a.cells[at], b.cells[at]));
  table.tBodies[0].append(...rows);
  head.setAttribute("aria-sort", start < 0 ? "descending" : "ascending");
}

function sortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const label = head.querySelector(".sort");
    const button = make("button", "sort");
    button.type = "button";
    button.append(...label.childNodes);
    label.replaceWith(button);
    button.addEventListener("click", () => sortBy(table, head));
  }
}

for (const figure of document.querySelectorAll("figure.table")) {
  if (!figure.querySelector(".tools")) continue;
  const table = figure.querySelector("table");
  if (!table.classList.contains("matrix")) sortable(table);
  figure.querySelector(".tools").hidden = false;
  for (const button of figure.querySelectorAll("[data-copy]")) {
    const markdown = button.dataset.copy === "markdown";
    button.addEventListener("click", () => copy(markdown ? asMarkdown(table) : asCsv(table), markdown ? "Markdown" : "CSV"));
  }
}
