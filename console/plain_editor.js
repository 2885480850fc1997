// An editor that needs nothing from elsewhere, for browsers that cannot reach GraphiQL's CDN.

import { make } from "./make.js";

/** Puts an editor for an operation, its variables and its headers into an element, with the response beside them. */
export function plainEditor(element, { address, fetch, startingTexts }) {
  const operation = field("operation", "Operation", startingTexts[0].query, 16);
  const variables = field("variables", "Variables, as JSON", startingTexts[0].variables ?? "", 4);
  const headers = field("headers", "Headers, as JSON", "", 3);
  const response = make("pre", { id: "response", tabIndex: 0, ariaLabel: "Response" });
  const run = make("button", { type: "submit" }, "Run");

  async function send(event) {
    event?.preventDefault();
    run.disabled = true;
    response.textContent = await answer().catch((error) => `${error}`);
    run.disabled = false;
  }

  async function answer() {
    const body = { query: operation.input.value, variables: json(variables, "Variables") };
    const sent = { "content-type": "application/json", accept: "application/json", ...json(headers, "Headers") };
    const response = await fetch(address("graphql").href, { method: "POST", headers: sent, body: JSON.stringify(body) });
    return JSON.stringify(await response.json(), null, 2);
  }

  const form = make("form", { onsubmit: send }, operation.label, variables.label, headers.label, run);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  });
  const note = make("p", { className: "note" },
    "GraphiQL cannot be loaded from unpkg.com. This editor needs no other site. Ctrl-Enter runs the operation.");
  element.replaceChildren(make("div", { className: "plain" }, note, form, response));
}

function field(id, name, text, rows) {
  const input = make("textarea", { id, rows, spellcheck: false, value: text });
  return { input, label: make("label", {}, name, input) };
}

/** The JSON object of a field; nothing where the field is empty. */
function json({ input }, name) {
  if (!input.value.trim()) return undefined;
  try {
    return JSON.parse(input.value);
  } catch (error) {
    throw new Error(`${name} must be a JSON object. ${error.message}`);
  }
}

/** Puts an operation with its variables in place of what is there. */
export function replaceOperation({ query, variables }) {
  document.getElementById("operation").value = query;
  document.getElementById("variables").value = variables ?? "";
}
