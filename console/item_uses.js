// An item in; out, its attributes, links to operations that read and write it, forms of its changes, and its JSON.

import { make } from "./make.js";
import { keyText } from "./keys.js";
import { plain, text } from "./item_table.js";

/** Shows an item of a table with what is to be said of it and its uses in an element. `change` is called with a use whose form is wanted, `close` when the user closes it. */
export function showItem(element, { table, item, uses, remarks, change, close }) {
  const button = make("button", { type: "button", ariaLabel: "Close the item" }, "Close");
  button.addEventListener("click", close);
  element.onkeydown = (event) => { if (event.key === "Escape") close(); };
  const heading = make("h2", { tabIndex: -1 }, item.type ?? "An item of no known type");
  const attributes = Object.entries(item.attributes).map(([name, attribute]) => [
    make("dt", {}, name),
    make("dd", {}, item.parts[name] ? keyText(item.parts[name].map((part) => ({ ...part, text: part.text ?? text(attribute) }))) : text(attribute)),
  ]);
  element.replaceChildren(
    make("div", { className: "row" }, heading, button),
    remarks.length ? make("ul", { className: "warning" }, remarks.map((remark) => make("li", {}, remark))) : "",
    useList("Read by", uses.filter((use) => !use.writes), "No field of the API reads it."),
    useList("Written by", uses.filter((use) => use.writes), "No mutation writes it.", change),
    make("h3", {}, "Attributes"), make("dl", {}, attributes.flat()),
    folded("As JSON", JSON.stringify(plainItem(item), null, 2)),
    folded("As a command", `aws dynamodb get-item --table-name ${quoted(table.name)} --key ${quoted(JSON.stringify(item.key))}`));
  element.hidden = false;
  heading.focus();
}

/** A text that opens below its title. */
function folded(title, text) {
  return make("details", {}, make("summary", {}, title), make("pre", {}, text));
}

/** An item without the types of DynamoDB. */
function plainItem({ attributes }) {
  return Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, plain(attribute)]));
}

/** A word of a command of a shell. */
function quoted(word) {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function useList(title, uses, none, change) {
  const form = (use) => {
    const button = make("button", { type: "button", ariaLabel: `Fill in ${use.field}` }, "Fill in");
    button.addEventListener("click", () => change(use));
    return button;
  };
  const item = (use) => make("li", {}, change ? form(use) : null,
    make("a", { href: `./#${new URLSearchParams({ operation: use.operation })}`, title: "Open the operation in GraphiQL" }, use.field),
    make("span", { className: "where" }, ` ${use.call}`));
  const list = uses.length ? make("ul", {}, uses.map(item)) : make("p", { className: "note" }, none);
  return make("section", {}, make("h3", {}, title), list);
}
