// An item in; its attributes, and links to operations that read and write it, out.

import { make } from "./make.js";
import { keyText } from "./keys.js";
import { text } from "./item_table.js";

/** Shows an item and its uses in an element. `close` is called when the user closes it. */
export function showItem(element, item, uses, close) {
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
    useList("Read by", uses.filter((use) => !use.writes), "No field of the API reads it."),
    useList("Written by", uses.filter((use) => use.writes), "No mutation writes it."),
    make("h3", {}, "Attributes"), make("dl", {}, attributes.flat()));
  element.hidden = false;
  heading.focus();
}

function useList(title, uses, none) {
  const item = (use) => make("li", {},
    make("a", { href: `./#${new URLSearchParams({ operation: use.operation })}`, title: "Open the operation in GraphiQL" }, use.field),
    make("span", { className: "where" }, ` ${use.call}`));
  const list = uses.length ? make("ul", {}, uses.map(item)) : make("p", { className: "note" }, none);
  return make("section", {}, make("h3", {}, title), list);
}
