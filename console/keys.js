// The parts of keys, coloured by what their templates make them of.

import { make } from "./make.js";

/** What a part is made of: the name of its kind, and what the legend calls it. */
const KINDS = { constant: "constant text", field: "field", claim: "claim of the caller", number: "shard or replica" };

const kindOf = (part) => Object.keys(KINDS).find((kind) => kind in part);

/** A key's text, each part in the colour of its kind. A part of no known template has none. */
export function keyText(parts) {
  return make("span", { className: "key" }, parts.map((part) => {
    const kind = kindOf(part);
    return make("span", { className: kind ?? "", title: kind && kind !== "constant" ? `${KINDS[kind]} ${part[kind]}` : "" }, part.text);
  }));
}

/** A template: constant parts as they are, the others in braces. */
function templateText(parts) {
  return make("span", { className: "key" }, parts.map((part) => {
    const kind = kindOf(part);
    return make("span", { className: kind }, kind === "constant" ? part.constant : `{${part[kind]}}`);
  }));
}

/** The colours, and behind a switch the key templates of a table's types. */
export function legend(table) {
  const templates = table.types.flatMap((type) => Object.values(type.keys).flat());
  const kinds = Object.keys(KINDS).filter((kind) => templates.some((parts) => parts.some((part) => kind in part)));
  const attributes = [...new Set(table.types.flatMap((type) => Object.keys(type.keys)))];
  const rows = table.types.map((type) => make("tr", {}, make("th", { scope: "row" }, type.name), attributes.map((name) =>
    make("td", {}, (type.keys[name] ?? []).map((parts) => make("div", {}, templateText(parts)))))));
  const head = make("tr", {}, ["Type", ...attributes].map((name) => make("th", { scope: "col" }, name)));
  return make("details", { className: "legend" },
    make("summary", {}, "Keys: ", kinds.map((kind) => make("span", { className: `key ${kind}` }, KINDS[kind]))),
    make("div", { className: "wide", tabIndex: 0, role: "region", ariaLabel: "Key templates" },
      make("table", {}, make("thead", {}, head), make("tbody", {}, rows))));
}
