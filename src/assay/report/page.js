// Knows the page: making elements, saying what happened, copying. Text becomes text nodes, never markup.
const byId = (id) => document.getElementById(id);

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

let quiet;
function say(text) {
  const place = byId("said");
  place.textContent = text;
  clearTimeout(quiet);
  quiet = setTimeout(() => { place.textContent = ""; }, 2500);
}

function oldCopy(text) {
  const area = make("textarea", "copy");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

async function copy(text, what) {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = oldCopy(text);
  }
  say(done ? `${what} copied` : "The browser did not allow copying");
}

for (const command of document.querySelectorAll("code.command")) {
  const button = make("button", "copy-command", "Copy");
  button.type = "button";
  button.setAttribute("aria-label", "Copy the command");
  button.addEventListener("click", () => copy(command.textContent, "Command"));
  command.after(button);
}

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll(".card details")) details.open = true;
});
