// Knows the views of one example below its maps: what was cut, one-word removals, fills, people's marks.
const arrowOf = (test) => ({ higher: " ↑", lower: " ↓" })[data.tests[test]] ?? "";
const wordsOf = (e) => e.fields.flatMap(([, pieces]) => pieces.filter((_, i) => i % 2));
const seen = (view_) => data.methods.map((m, i) => [m, view_[i]]).filter(([m, of]) => of && !view.off.has(m));

// A part that stays open or shut when another example is chosen.
function fold(key, title, ...content) {
  const details = make("details", `view ${key}`);
  details.open = !view.shut.has(key);
  details.addEventListener("toggle", () => (details.open ? view.shut.delete(key) : view.shut.add(key)));
  details.append(make("summary", "", title), ...content);
  return details;
}

function scrolling(content, name) {
  const box = make("div", "scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", name);
  box.append(content);
  return box;
}

function cutOf(e) {
  if (!e.cut) return "";
  const box = make("div", "notice cut");
  box.append(make("p", "", `✂ Cut before the model read it: ${e.cut}. No map says anything of that part.`));
  const unread = e.fields.filter(([, , rest]) => rest);
  if (unread.length) {
    const details = make("details");
    details.append(make("summary", "", "What was cut"));
    for (const [name, , rest] of unread) {
      const line = make("p", "field");
      line.dir = "auto";
      if (e.fields.length > 1) line.append(make("span", "field-name", name));
      line.append(rest.trim());
      details.append(line);
    }
    box.append(details);
  }
  return box;
}

// ------------------------------------------------------------------------------------------ one-word removals
function removal(text, label, confidence, flips) {
  const row = make("li", flips ? "removal flips" : "removal");
  const bar = make("span", "bar-of");
  bar.setAttribute("aria-hidden", "true");
  bar.style.setProperty("--p", String(confidence));
  const shown = make("span", "left-out", text);
  shown.dir = "auto";
  row.append(shown, bar, make("span", "p", percent(confidence)), make("span", "label", flips ? `⇄ ${label}` : label));
  if (flips) row.append(make("span", "unseen", " (the prediction flips)"));
  return row;
}

function removalsOf(e) {
  const found = e.views.removals;
  const shown = found ? seen(found.of) : [];
  if (!shown.length) return "";
  const [whole, sure] = found.whole;
  const words = wordsOf(e);
  const parts = shown.flatMap(([method, [labels, confidences]]) => {
    const flips = words.filter((_, i) => labels[i] !== whole);
    const line = make("p", "view-line");
    line.append(make("span", "method", method), " ");
    line.append(flips.length ? `⇄ ${flips.length} of ${words.length} words flip the prediction when they alone are left out`
      : `none of the ${words.length} words flips the prediction when it alone is left out`);
    line.append(make("span", "quiet", ` · untouched: ${found.labels[whole]} ${percent(sure / 1e4)}`));
    const list = make("ol", "removals");
    words.forEach((w, i) => list.append(removal(w, found.labels[labels[i]], confidences[i] / 1e4, labels[i] !== whole)));
    return [line, list];
  });
  return fold("one-word", "Every one-word removal", ...parts);
}

// ------------------------------------------------------------------------------------------------------ fills
function chip(name, score, top) {
  const line = make("span", "chip");
  line.append(make("span", "quiet", name), word(score === null ? "–" : `${score < 0 ? "−" : "+"}${Math.abs(score).toFixed(2)}`, score, top, false, false));
  return line;
}

function gloss(text, fills, scores) {
  const block = make("div", "gloss");
  const shown = make("p", "over", text);
  shown.dir = "auto";
  const list = make("ol");
  for (let k = 0; k < fills.length; k += 2) {
    const itself = fills[k].toLowerCase() === text.toLowerCase();
    const row = make("li", itself ? "itself" : "");
    const name = make("span", "fill", (itself ? "= " : "") + fills[k]);
    name.dir = "auto";
    row.append(name, make("span", "p", fills[k + 1] < 100 ? "< 1 %" : `${Math.round(fills[k + 1] / 100)} %`));
    if (itself) row.append(make("span", "unseen", " (the word itself)"));
    list.append(row);
  }
  block.append(shown, list, ...scores);
  return block;
}

function fillsOf(e) {
  const shown = e.views.fills ? seen(e.views.fills) : [];
  if (!shown.length) return "";
  const words = wordsOf(e);
  const other = e.views.removals ? data.methods.findIndex((_, i) => e.views.removals.of[i] && e.scores[i]) : -1;
  const alone = other < 0 ? null : unpack(e.scores[other]);
  const parts = shown.flatMap(([method, fills]) => {
    const mine = unpack(e.scores[data.methods.indexOf(method)]);
    const scores = (i) => [chip("filled", mine[i], topOf(mine)), ...(alone ? [chip("gone", alone[i], topOf(alone))] : [])];
    const line = make("p", "view-line");
    line.append("Under each word the three likeliest fills, = marks the word itself. ");
    line.append(make("span", "quiet", `filled: score by ${method}${alone ? ` · gone: score by ${data.methods[other]}` : ""}`));
    const glosses = make("div", "glosses");
    words.forEach((w, i) => glosses.append(gloss(w, fills[i], scores(i))));
    return [line, glosses];
  });
  return fold("fills", "Fills: what could have stood there", ...parts);
}

// ----------------------------------------------------------------------------------------------------- people
function against(text, isShown, isMarked) {
  const span = make("span", `w${isShown ? " picked" : ""}${isMarked ? " evidence" : ""}`, text);
  span.title = isShown && isMarked ? "both: shown and marked" : isShown ? "shown by the map only" : isMarked ? "marked by people only" : "neither";
  return span;
}

function peopleLegend(people) {
  const line = make("p", "legend");
  line.append(against("shown", true, false), against("marked by people", false, true), against("both", true, true));
  line.append(make("span", "quiet", `shown: at least ${100 * people.tau} % of the map's largest score.`));
  if (people.why) line.append(make("b", "", `Not compared: ${people.why}.`));
  return line;
}

function peopleOf(e) {
  const people = e.views.people;
  const shown = people ? seen(people.of) : [];
  if (!shown.length) return "";
  const marked = new Set(e.evidence);
  const rows = shown.map(([method, [iou, precision, recall, cut]]) => {
    const picked = new Set(cut);
    const row = make("div", "map-row");
    const name = make("div");
    name.append(make("p", "method", method));
    const hits = cut.filter((i) => marked.has(i)).length;
    const said = iou === null ? "not compared" : `IoU ${iou.toFixed(2)} · precision ${precision.toFixed(2)} · recall ${recall.toFixed(2)}`;
    name.append(make("p", "quiet agreement", said), make("p", "unseen", `${hits} of ${marked.size} marked words shown, ${cut.length - hits} others shown`));
    row.append(name, texts(e.fields, (text, i) => against(text, picked.has(i), marked.has(i))));
    return row;
  });
  const maps = make("div", "maps");
  maps.append(...rows);
  return fold("people", "Against what people marked", peopleLegend(people), maps);
}

function viewsOf(e) {
  if (!e.views) {
    const told = data.text && e.index >= data.detailed && data.detailed > 0;
    return told ? [make("p", "quiet", "The further views of this example were left out to keep the page small.")] : [];
  }
  return [peopleOf(e), removalsOf(e), fillsOf(e), curvesOf(e)];
}
