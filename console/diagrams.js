// Item types and tables in, drawings in SVG out: types with their relations, and item collections with their keys.

import { templateText } from "./design_model.js";

const ROW = 20;
/** The width of a sign of the drawings' text at its size. */
const SIGN = 7.3;

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const widthOf = (texts, least) => Math.max(least, ...texts.map((text) => Math.ceil([...text].length * SIGN) + 24));
const text = (x, y, name, content) => draw("text", { x, y, class: name }, content);

/** The item types: related ones are in neighbouring columns, and each relation leads from its field to its type. */
export function entityDiagram(types) {
  const columns = columnsOf(types);
  const boxes = new Map();
  let left = 8;
  for (const column of columns) {
    const width = widthOf(
      column.flatMap(({ name, key, relations }) => [name, ...key, ...relations.map(relationText)]),
      150,
    );
    let top = 8;
    for (const type of column) {
      const height = headOf(type) + type.relations.length * ROW + (type.relations.length ? 6 : 0);
      boxes.set(type.name, { type, x: left, y: top, width, height, column: columns.indexOf(column) });
      top += height + 24;
    }
    left += width + 80;
  }
  const all = [...boxes.values()];
  const height = Math.max(...all.map(({ y, height }) => y + height)) + 12;
  const lines = all.flatMap((box) =>
    box.type.relations.map((relation, at) => line(box, boxes.get(relation.to), at, relation)),
  );
  return draw(
    "svg",
    { width: left - 30, height, role: "img", "aria-label": "Item types and their relations", class: "diagram" },
    draw(
      "defs",
      {},
      draw(
        "marker",
        { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
        draw("path", { d: "M0 0L8 4L0 8z", class: "head" }),
      ),
    ),
    ...lines,
    ...all.map(typeBox),
  );
}

const relationText = ({ name, to, isList }) => `${name} → ${isList ? `[${to}]` : to}`;

/** The height of a type's name and key. */
const headOf = ({ key }) => 30 + key.length * 16;

/** Types by their distance from the one with most relations: each relation stays in a column or leads to the next. */
function columnsOf(types) {
  const near = new Map(types.map(({ name }) => [name, new Set()]));
  for (const { name, relations } of types) {
    for (const { to } of relations) {
      near.get(name).add(to);
      near.get(to)?.add(name);
    }
  }
  const left = [...types].sort((a, b) => near.get(b.name).size - near.get(a.name).size);
  const distance = new Map();
  for (const { name: root } of left) {
    if (distance.has(root)) continue;
    const queue = [root];
    distance.set(root, 0);
    for (const name of queue) {
      for (const other of near.get(name)) {
        if (distance.has(other)) continue;
        distance.set(other, distance.get(name) + 1);
        queue.push(other);
      }
    }
  }
  const columns = [];
  for (const name of distance.keys())
    (columns[distance.get(name)] ??= []).push(types.find((type) => type.name === name));
  return columns;
}

function typeBox({ type, x, y, width, height }) {
  return draw(
    "g",
    {},
    draw("rect", { x, y, width, height, rx: 6, class: "box" }),
    text(x + 12, y + 18, "name", type.name),
    ...type.key.map((template, at) => text(x + 12, y + 36 + at * 16, "template", template)),
    ...type.relations.map((relation, at) =>
      text(x + 12, y + headOf(type) + at * ROW + 13, "row", relationText(relation)),
    ),
  );
}

/** A line from the field of a relation to its type. */
function line(from, to, at, { name }) {
  const y = from.y + headOf(from.type) + at * ROW + 9;
  const isRight = to.column >= from.column;
  const x = isRight ? from.x + from.width : from.x;
  const isSame = to.column === from.column;
  const [endX, endY] = [isRight && !isSame ? to.x : to.x + to.width, to.y + 14 + Math.min(at * 4, 12)];
  const bend = isSame ? 28 + Math.min(Math.abs(endY - y) / 12, 50) : 44;
  const [first, second] = isSame
    ? [x + bend, endX + bend]
    : isRight
      ? [x + bend, endX - bend]
      : [x - bend, endX + bend];
  return draw(
    "path",
    { d: `M${x} ${y}C${first} ${y} ${second} ${endY} ${endX} ${endY}`, class: "relation", "marker-end": "url(#arrow)" },
    draw("title", {}, `${from.type.name}.${name}`),
  );
}

/** A table and each of its indexes as a column: its item collections, and the types in each by their sort keys. */
export function keyDiagram(table) {
  const places = [{ name: table.name, partition: table.partition, sort: table.sort }, ...table.indexes];
  const group = draw("g");
  let [left, height] = [8, 0];
  for (const place of places) {
    const collections = collectionsOf(table, place);
    if (!collections.length) continue;
    const rows = collections.flatMap(({ title, rows }) => [title, ...rows.map(([type, sort]) => `${type}   ${sort}`)]);
    const keys = [place.partition, place.sort]
      .filter(Boolean)
      .map(({ name }) => name)
      .join(", ");
    const width = widthOf([...rows, place.name, keys], 160);
    const names = Math.max(...collections.flatMap(({ rows }) => rows.map(([type]) => type.length))) * SIGN + 14;
    group.append(text(left, 18, "name", place.name), text(left, 36, "template", keys));
    let top = 48;
    for (const { title, rows } of collections) {
      const size = 26 + rows.length * ROW + 6;
      group.append(
        draw("rect", { x: left, y: top, width, height: size, rx: 6, class: "box" }),
        draw("path", { d: `M${left} ${top + 26}h${width}`, class: "rule" }),
        text(left + 12, top + 18, "partition", title),
        ...rows.flatMap(([type, sort], at) => [
          text(left + 12, top + 41 + at * ROW, "row", type),
          text(left + 12 + names, top + 41 + at * ROW, "template", sort),
        ]),
      );
      top += size + 12;
    }
    [left, height] = [left + width + 32, Math.max(height, top)];
  }
  return draw(
    "svg",
    { width: left, height, role: "img", "aria-label": `Item collections of ${table.name}`, class: "diagram" },
    group,
  );
}

/** The collections of a table or an index: types whose partition keys have one form share them. */
function collectionsOf(table, { partition, sort }) {
  const collections = new Map();
  for (const type of table.types) {
    const [parts] = type.keys[partition.name] ?? [];
    if (!parts) continue;
    const form = parts.map(({ constant }) => constant ?? "{}").join("");
    const collection = collections.get(form) ?? { titles: new Set(), rows: [] };
    collection.titles.add(templateText(parts));
    collection.rows.push([type.name, sort ? (type.keys[sort.name] ?? []).map(templateText).join(" | ") : ""]);
    collections.set(form, collection);
  }
  return [...collections.values()].map(({ titles, rows }) => ({ title: [...titles].join(" = "), rows }));
}
