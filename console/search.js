// The choice of a table, an index and a key.

import { make } from "./make.js";

/** Puts the search into a form. `go` is called with what is searched for; `range` is what the server made of a type's fields. */
export function searchForm(form, tables, { table, index, search }, go, range = null) {
  const focused = document.activeElement?.id;
  const { partition, sort } = index ?? table;
  const where = (more) => ({ table: table.name, ...(index ? { index: index.name } : {}), ...more });
  const types = table.types.filter((type) => type.keys[partition.name]);
  const type = types.find((type) => type.name === search.type);

  const parts = [
    choice("table", "Table", tables.map(({ name }) => [name, name]), table.name, (name) => go({ table: name })),
    choice("index", "Index", [["", "The table itself"], ...table.indexes.map(({ name }) => [name, name])], index?.name ?? "",
      (name) => go({ table: table.name, ...(name ? { index: name } : {}) })),
    choice("type", "Search by", [["", "Key"], ...types.map(({ name }) => [name, `Fields of ${name}`])], type?.name ?? "",
      (name) => { searchForm(form, tables, { table, index, search: name ? { type: name } : {} }, go); }),
  ];
  const inputs = type ? fieldInputs(type, [partition, sort], search) : keyInputs({ partition, sort }, search);
  const all = make("a", { href: `#${new URLSearchParams(where({}))}` }, "All items");
  const found = range?.partition ? make("span", { className: "where" }, `${range.partition}${range.begins ? ` · ${range.begins}…` : ""}`) : null;
  form.replaceChildren(...[...parts, ...inputs.map((input) => input.label), make("button", { type: "submit" }, "Search"), all, found].filter(Boolean));
  form.onsubmit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(inputs.filter(({ input }) => input.value).map(({ name, input }) => [name, input.value]));
    go(where(type ? { type: type.name, fields: JSON.stringify(given) } : given));
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

function keyInputs({ partition, sort }, search) {
  const begins = sort && input("begins", sort.kind === "N" ? `${sort.name} is` : `${sort.name} begins with`, search.begins);
  return [input("pk", partition.name, search.pk), begins].filter(Boolean);
}

/** An input for each value in the templates of a type's keys. The sort key may be known in part. */
function fieldInputs(type, keys, search) {
  const known = JSON.parse(search.fields ?? "{}");
  const [first, second] = keys.map((key) => (type.keys[key?.name]?.[0] ?? []).map((part) => part.field ?? part.claim ?? part.number).filter(Boolean));
  return [...new Set([...first, ...second])].map((name) => input(name, name, known[name], first.includes(name)));
}

function input(name, title, value = "", required = false) {
  const field = make("input", { id: `search-${name}`, value, required, autocomplete: "off", spellcheck: false });
  return { name, input: field, label: make("label", {}, title, field) };
}
