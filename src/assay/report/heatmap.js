// Knows one heatmap: words in their text, coloured by score; orange supports, blue opposes, evidence underlined.
function unpack(packed) {
  const [exponent, ...numbers] = packed;
  return numbers.map((n) => (n === null ? null : Number((n * 10 ** exponent).toPrecision(4))));
}

const topOf = (scores) => scores.reduce((top, s) => (s === null ? top : Math.max(top, Math.abs(s))), 0);
const signed = (score) => (score > 0 ? "+" : score < 0 ? "−" : "") + Math.abs(score).toPrecision(3);

function word(text, score, top, marked, numbers) {
  const span = make("span", marked ? "w evidence" : "w");
  span.append(text);
  const said = score === null ? "no score" : signed(score);
  span.title = marked ? `${said} · marked as evidence` : said;
  if (score === null) span.classList.add("none");
  else if (top > 0 && score !== 0) {
    span.classList.add(score > 0 ? "supports" : "opposes");
    span.style.setProperty("--s", Math.min(1, Math.abs(score) / top).toFixed(3));
  }
  if (numbers) span.append(make("small", "", score === null ? "–" : signed(score)));
  return span;
}

// pieces = [before, word, between, word, ..., after]; words run on over all fields; ``show(text, index)`` makes one.
function texts(fields, show) {
  const block = make("div", "map");
  let at = 0;
  for (const [name, pieces, unread] of fields) {
    const line = make("p", "field");
    line.dir = "auto";
    if (fields.length > 1) line.append(make("span", "field-name", name));
    pieces.forEach((piece, i) => {
      if (i % 2 === 0) line.append(piece);
      else {
        line.append(show(piece, at));
        at += 1;
      }
    });
    if (unread) line.append(make("span", "quiet", " ✂"));
    block.append(line);
  }
  return block;
}

const heatmap = (fields, scores, top, evidence, numbers) =>
  texts(fields, (text, i) => word(text, scores[i], top, evidence.has(i), numbers));
