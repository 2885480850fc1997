// The choice of a table, an index and a key.

import { make } from "./make.js";

/** The value of the choice for items of no type. No type has such a name. */
const UNKNOWN = "-";

/** Puts the search into a form. `go` is called with what is searched for; `range` is what the server made of a type's fields. */
export function searchForm(form, tables, { table, index, search }, go, range = null) {
  const focused = document.activeElement?.id;
  const [partitions, sorts] = keysOf(index ?? table);
  const where = (more) => ({ table: table.name, ...(index ? { index: index.name } : {}), ...more });
  const types = table.types.filter((type) => partitions.every(({ name }) => type.keys[name]));
  const type = types.find((type) => type.name === search.type);

  const parts = [
    choice("table", "Table", tables.map(({ name }) => [name, name]), table.name, (name) => go({ table: name })),
    choice("index", "Index", [["", "The table itself"], ...table.indexes.map(({ name }) => [name, name])], index?.name ?? "",
      (name) => go({ table: table.name, ...(name ? { index: name } : {}) })),
    choice("type", "Search by", [["", "Key"], ...types.map(({ name }) => [name, `Fields of ${name}`])], type?.name ?? "",
      (name) => { searchForm(form, tables, { table, index, search: name ? { type: name } : {} }, go); }),
  ];
  const names = [["", "All"], ...table.types.map(({ name }) => [name, name]), [UNKNOWN, "No known type"]];
  const only = search.only === "" ? UNKNOWN : (search.only ?? "");
  const { only: _, ...others } = search;
  parts.push(choice("only", "Types", names, only, (name) => go(where({ ...others, ...(name ? { only: name === UNKNOWN ? "" : name } : {}) }))));
  const inputs = type ? fieldInputs(type, partitions, sorts, search) : keyInputs(partitions, sorts, search);
  const text = input("any-text", "Any value contains", search.contains);
  const all = make("a", { href: `#${new URLSearchParams(where({}))}` }, "All items");
  const texts = range?.partition ? [range.partition, ...Object.values(range.equal ?? {}), ...(range.begins ? [`${range.begins}…`] : [])] : [];
  const found = texts.length ? make("span", { className: "where" }, texts.join(" · ")) : null;
  form.replaceChildren(...[...parts, ...[...inputs, text].map((input) => input.label), make("button", { type: "submit" }, "Search"), all, found].filter(Boolean));
  form.onsubmit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(inputs.filter(({ input }) => input.value).map(({ name, input }) => [name, input.value]));
    const everywhere = { ...(text.input.value ? { contains: text.input.value } : {}), ...(search.only === undefined ? {} : { only: search.only }) };
    go(where({ ...(type ? { type: type.name, fields: JSON.stringify(given) } : keyParameters(given)), ...everywhere }));
  };
  // What was in use stays in use.
  if (focused) document.getElementById(focused)?.focus();
}

function choice(id, name, options, value, change) {
  const select = make("select", { id }, options.map(([key, text]) => make("option", { value: key }, text)));
  select.value = value;
  select.addEventListener("change", () => change(select.value));
  return make("label", {}, name, select);
}

/** The attributes of the partition key and of the sort key of a table or an index. */
export function keysOf(place) {
  return [[place.partition, ...(place.furtherPartition ?? [])], [place.sort, ...(place.furtherSort ?? [])].filter(Boolean)];
}

/** An input for each attribute of a key. Those behind the first of each key are further keys by their names. */
function keyInputs([partition, ...partitions], [sort, ...sorts], search) {
  const further = JSON.parse(search.equal ?? "{}");
  const title = ({ name, kind }) => (kind === "N" ? `${name} is` : `${name} begins with`);
  const required = Boolean(partitions.length);
  return [
    input("pk", partition.name, search.pk, required),
    ...partitions.map(({ name }) => input(`equal.${name}`, name, further[name], true)),
    ...(sort ? [input("begins", title(sort), search.begins)] : []),
    ...sorts.map((key) => input(`equal.${key.name}`, title(key), further[key.name])),
  ];
}

/** The parameters of a search by keys. */
function keyParameters(given) {
  const isFurther = ([name]) => name.startsWith("equal.");
  const further = Object.entries(given).filter(isFurther).map(([name, text]) => [name.slice("equal.".length), text]);
  const own = Object.fromEntries(Object.entries(given).filter((entry) => !isFurther(entry)));
  return further.length ? { ...own, equal: JSON.stringify(Object.fromEntries(further)) } : own;
}

/** An input for each value in the templates of a type's keys. The sort key may be known in part. */
function fieldInputs(type, partitions, sorts, search) {
  const known = JSON.parse(search.fields ?? "{}");
  const of = (keys) => keys.flatMap(({ name }) => (type.keys[name]?.[0] ?? []).map((part) => part.field ?? part.claim ?? part.number).filter(Boolean));
  const [first, second] = [of(partitions), of(sorts)];
  return [...new Set([...first, ...second])].map((name) => input(name, name, known[name], first.includes(name)));
}

function input(name, title, value = "", required = false) {
  const field = make("input", { id: `search-${name}`, value, required, autocomplete: "off", spellcheck: false });
  return { name, input: field, label: make("label", {}, title, field) };
}
