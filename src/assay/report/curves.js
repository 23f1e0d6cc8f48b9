// Knows the curves of one example as small multiples: a row per method, a column per test, the other methods behind.
const SVG = "http://www.w3.org/2000/svg";
const [WIDE, HIGH, LEFT, BELOW] = [170, 80, 24, 13];

function svg(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

// Probabilities and their falls share the axis from 0 to 1; anything else gets its own range, zero within.
function rangeOf(curves) {
  const all = curves.flat().filter((y) => y !== null);
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  return [low, high > 1 || high <= 0 ? Math.max(high, low + 1e-9) : 1];
}

function lineOf(x, y, place) {
  let pen = "M";
  return x.map((at, i) => {
    if (y[i] === null) { pen = "M"; return ""; }
    const part = pen + place(at, y[i]);
    pen = "L";
    return part;
  }).join("");
}

function small(x, curves, m, said) {
  const [low, high] = rangeOf(curves.filter(Boolean));
  const across = (at) => LEFT + ((at - x[0]) / (x[x.length - 1] - x[0] || 1)) * (WIDE - LEFT - 4);
  const down = (y) => 5 + ((high - y) / (high - low)) * (HIGH - BELOW - 8);
  const place = (at, y) => `${across(at).toFixed(1)} ${down(y).toFixed(1)}`;
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "small", role: "img", "aria-label": said });
  for (const level of new Set(down(low) - down(0) > 9 ? [low, 0, high] : [0, high])) {
    picture.append(svg("path", { d: `M${LEFT} ${down(level).toFixed(1)}H${WIDE - 4}`, class: level === 0 ? "rule zero" : "rule" }));
    picture.append(svg("text", { x: LEFT - 4, y: (down(level) + 3).toFixed(1), "text-anchor": "end" }, Number(level.toPrecision(2))));
  }
  const percentOf = (at) => `${Math.round(at / 10)} %`;
  picture.append(svg("text", { x: LEFT, y: HIGH - 1 }, percentOf(x[0])), svg("text", { x: WIDE - 4, y: HIGH - 1, "text-anchor": "end" }, percentOf(x[x.length - 1])));
  curves.forEach((y, i) => {
    if (y && i !== m && !view.off.has(data.methods[i])) picture.append(svg("path", { d: lineOf(x, y, place), class: "ghost" }));
  });
  picture.append(svg("path", { d: lineOf(x, curves[m], place), class: "own" }));
  curves[m].forEach((y, i) => {
    if (y === null) return;
    const dot = svg("circle", { cx: across(x[i]).toFixed(1), cy: down(y).toFixed(1), r: 2.2, class: "dot" });
    dot.append(svg("title", {}, `${y.toPrecision(3)} at ${percentOf(x[i])} of the words`));
    picture.append(dot);
  });
  return picture;
}

function curveCell(e, method, m, [test, x, curves]) {
  const cell = make("td");
  if (!curves[m]) return make("td", "quiet", "–");
  const value = e.values[method]?.[test];
  const [first, last_] = [curves[m][0], curves[m][x.length - 1]];
  const said = `${test} by ${method}: ${signed(first)} to ${signed(last_)}${value === undefined ? "" : `, in all ${value.toPrecision(3)}`}`;
  if (value !== undefined) cell.append(make("span", "curve-value", value.toPrecision(3)));
  cell.append(small(x, curves, m, said));
  return cell;
}

function curvesOf(e) {
  const curves = (e.views.curves ?? []).map(([test, x, of]) => [test, x, of.map((y) => y && unpack(y))]);
  const rows = data.methods.map((method, m) => [method, m]).filter(([method, m]) => !view.off.has(method) && curves.some((c) => c[2][m]));
  if (!rows.length) return "";
  const table = make("table", "curves");
  const head = table.createTHead().insertRow();
  head.append(make("th", "", "method"), ...curves.map(([test]) => make("th", "", test + arrowOf(test))));
  const body = table.createTBody();
  for (const [method, m] of rows) body.insertRow().append(make("th", "", method), ...curves.map((c) => curveCell(e, method, m, c)));
  const line = make("p", "view-line quiet", "Over the share of the words, highest scores first: strong line and number for the method of the row, faint lines for the others.");
  return fold("curve-views", "Curves", line, scrolling(table, "Curves of this example"));
}
