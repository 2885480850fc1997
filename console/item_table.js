// Items in, a table of them out: those of one partition beside each other, with their attributes as columns.

import { make } from "./make.js";
import { keyText } from "./keys.js";
import { keysOf } from "./search.js";

/** Most characters of a value in a cell. */
const LONGEST = 60;

/** A table to which items are added. `choose` is called with an item and the button that was pressed. */
export function itemTable({ table, index }, range, choose) {
  const place = index ?? table;
  const [partitions, [sort, ...sorts]] = keysOf(place).map((keys) => keys.map(({ name }) => name));
  const keys = [...new Set([...partitions, sort, ...sorts, table.partition.name, table.sort?.name].filter(Boolean))];
  const others = keys.filter((name) => !partitions.includes(name) && name !== sort);
  const isOne = range.partition !== null;
  const all = [];
  const element = make("div", { className: "wide grid", tabIndex: 0, role: "region", ariaLabel: "Table of items" });

  /** Adds items, and gives the number of all. */
  function add(more) {
    all.push(...more);
    const [items, strays] = [all.filter(({ type }) => type), all.filter(({ type }) => !type)];
    const rest = attributesOf(items).filter((name) => !keys.includes(name));
    const names = [...(isOne ? [] : [partitions.join(" · ")]), ...(sort ? [sort] : []), "Type", ...others, ...rest];
    const groups = groupedBy(items, (item) => JSON.stringify(partitions.map((name) => text(item.attributes[name]))));
    const bodies = groups.map((group) => make("tbody", {}, group.map((item, at) => make("tr", {}, row(item, at === 0 && group.length, rest)))));
    const header = make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name))));
    element.replaceChildren(
      items.length ? make("table", {}, header, bodies) : make("p", { className: "note" }, strays.length ? "No item here is of a type." : "There are no such items."),
      strays.length ? strayTable(strays) : "");
    return all.length;
  }

  /** The items of no type, each with the reason. An index with a part of each item tells none. */
  function strayTable(strays) {
    const names = [table.partition.name, table.sort?.name].filter(Boolean);
    const hasReasons = strays.some(({ remarks }) => remarks.length);
    const key = (item) => names.map((name) => text(item.key[name])).join(" · ");
    const rows = strays.map((item) => make("tr", {}, make("th", { scope: "row" }, opener(item, make("span", { className: "key" }, key(item)))), hasReasons ? make("td", { className: "reason" }, item.remarks.join(" ")) : null));
    const head = make("tr", {}, [names.join(" · "), hasReasons ? "Why no type has it" : []].flat().map((name) => make("th", { scope: "col" }, name)));
    return make("table", { className: "strays" }, make("caption", {}, hasReasons ? "Items of no type" : "Items whose type this index does not tell"), make("thead", {}, head), make("tbody", {}, rows));
  }

  /** The cells of an item. The first of several items of a partition has its key, which spans the rows of all of them. */
  function row(item, span, rest) {
    const shared = span && !isOne
      ? make("th", { scope: "rowgroup", rowSpan: span }, make("a", { href: collection(table, index, item) }, partitions.flatMap((name, at) => [at ? " · " : "", value(item, name, false)])))
      : null;
    const type = item.remarks.length ? [item.type, remarked(item)] : item.type;
    const own = sort
      ? [make("th", { scope: "row" }, opener(item, value(item, sort, false))), make("td", { className: "type" }, type)]
      : [make("td", { className: "type" }, opener(item, type))];
    return [shared, ...own, ...[...others, ...rest].map((name) => make("td", {}, value(item, name)))];
  }

  /** The mark of an item of which something is to be said. */
  function remarked({ remarks }) {
    return make("span", { className: "remarked", role: "img", ariaLabel: remarks.join(" "), title: remarks.join("\n") }, "!");
  }

  /** The button that chooses an item. */
  function opener(item, shown) {
    const button = make("button", { type: "button", className: "opener", ariaPressed: "false" }, shown);
    button.addEventListener("click", () => choose(item, button));
    return button;
  }

  /** An attribute's value: a key in its colours, and where it is the partition key of another index or of the table, a link to that collection. */
  function value(item, name, isLink = true) {
    const attribute = item.attributes[name];
    if (!attribute) return "";
    const shown = item.parts[name] ? keyText(item.parts[name].map((part) => ({ ...part, text: part.text ?? text(attribute) }))) : short(attribute);
    const isOf = (other) => other.partition.name === name && keysOf(other).flat().every((key) => item.attributes[key.name]);
    const of = [table, ...table.indexes].find((other) => isOf(other) && other !== place && !(other.local && !index));
    return isLink && of ? make("a", { href: collection(table, of, item), title: `Collection of ${of.name}` }, shown) : shown;
  }

  return { element, add };
}

/** The address of the items of the partition that an item is in. */
function collection(table, index, item) {
  const [[first, ...further]] = keysOf(index ?? table);
  const equal = Object.fromEntries(further.map(({ name }) => [name, text(item.attributes[name])]));
  const more = further.length ? { equal: JSON.stringify(equal) } : {};
  const place = index && index !== table ? { index: index.name } : {};
  return `#${new URLSearchParams({ table: table.name, ...place, pk: text(item.attributes[first.name]), ...more })}`;
}

/** The names of the items' attributes: those of most items first. */
function attributesOf(items) {
  const counts = new Map();
  for (const item of items) for (const name of Object.keys(item.attributes)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

/** Items with the same key, in the order in which each key comes first. */
function groupedBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()];
}

/** A value in JSON of DynamoDB without its types. A number that JavaScript cannot hold stays a text. */
export function plain(attribute) {
  const [[kind, value]] = Object.entries(attribute);
  if (kind === "NULL") return null;
  if (kind === "N") return numberOf(value);
  if (kind === "NS") return value.map(numberOf);
  if (kind === "L") return value.map(plain);
  if (kind === "M") return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
  return value;
}

const numberOf = (text) => (`${Number(text)}` === text ? Number(text) : text);

/** A value in JSON of DynamoDB as text. */
export function text(attribute) {
  const value = "N" in attribute ? attribute.N : plain(attribute);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function short(attribute) {
  const whole = text(attribute);
  const number = "N" in attribute ? "number" : "";
  return make("span", { className: number, title: whole.length > LONGEST ? whole.slice(0, 1000) : "" },
    whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole);
}
