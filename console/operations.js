// The server's introspection in; out, the operations of the API as a list, and texts of operations with names and
// variables.

import { insertOperation } from "./graphiql.js";
import { make } from "./make.js";
import { replaceOperation } from "./plain_editor.js";

/** Most fields that a new operation selects. */
const SELECTED = 6;

const QUERY = `query IntrospectionQuery { __schema {
  queryType { name } mutationType { name } subscriptionType { name } types { kind name
  fields { name description args { name defaultValue type { ...T } } type { ...T } } enumValues { name }
  inputFields { name defaultValue type { ...T } } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;

/** The API's operations by their kinds, and its types by their names; none where the server does not tell. */
export async function operationsOf(fetch, address) {
  const none = { kinds: [], types: new Map() };
  try {
    const body = JSON.stringify({ query: QUERY, operationName: "IntrospectionQuery" });
    const response = await fetch(address("graphql").href, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    const schema = (await response.json()).data?.__schema;
    if (!schema) return none;
    const types = new Map(schema.types.map((type) => [type.name, type]));
    const kinds = ["query", "mutation", "subscription"].map((kind) => ({
      kind,
      fields: types.get(schema[`${kind}Type`]?.name)?.fields ?? [],
    }));
    return { kinds: kinds.filter(({ fields }) => fields.length), types };
  } catch {
    return none;
  }
}

const TITLES = { query: "Queries", mutation: "Mutations", subscription: "Subscriptions" };

/** Shows the operations in an element. A click puts one into the editor. */
export function operationList(element, { kinds, types }) {
  const search = make("input", {
    type: "search",
    id: "find-operation",
    placeholder: "Find an operation",
    ariaLabel: "Find an operation",
  });
  const items = [];
  const lists = kinds.map(({ kind, fields }) =>
    make(
      "section",
      {},
      make("h3", {}, TITLES[kind]),
      make(
        "ul",
        {},
        fields.map((field) => {
          const item = make("li", {}, operationButton(kind, field, types));
          items.push([`${field.name} ${field.description ?? ""}`.toLowerCase(), item]);
          return item;
        }),
      ),
    ),
  );
  search.addEventListener("input", () => {
    for (const [text, item] of items) item.hidden = !text.includes(search.value.toLowerCase());
  });
  const none = make("p", { className: "note" }, "The server does not tell its operations.");
  element.replaceChildren(make("h2", {}, "Operations"), ...(lists.length ? [search, ...lists] : [none]));
}

function operationButton(kind, field, types) {
  const given = field.args.map(({ name, type }) => `${name}: ${typeText(type)}`).join(", ");
  const button = make(
    "button",
    { type: "button" },
    make("strong", {}, field.name),
    given ? make("code", {}, ` (${given})`) : null,
    make("span", { className: "where" }, (field.description ?? "").split("\n")[0]),
  );
  button.addEventListener("click", () => {
    const operation = newOperation(kind, field, types);
    if (document.querySelector(".graphiql-container")) insertOperation(operation);
    else replaceOperation(operation);
  });
  return button;
}

/** An operation with a field, and empty values of its needed arguments. */
function newOperation(kind, field, types) {
  const needed = field.args.filter(({ type, defaultValue }) => type.kind === "NON_NULL" && defaultValue === null);
  const query = operationWith(kind, field, types, needed.map(({ name }) => name));
  const values = Object.fromEntries(needed.map(({ name, type }) => [name, emptyValue(type, types)]));
  return { query, variables: needed.length ? JSON.stringify(values, null, 2) : "" };
}

/** The text of an operation with a field: its name, a variable for each of these arguments, and the plain fields of what it gives. */
export function operationWith(kind, field, types, names) {
  const given = field.args.filter(({ name }) => names.includes(name));
  const declared = given.map(({ name, type }) => `$${name}: ${typeText(type)}`).join(", ");
  const passed = given.map(({ name }) => `${name}: $${name}`).join(", ");
  const around = (text) => (text ? `(${text})` : "");
  const selected = `${field.name}${around(passed)}${selection(field.type, types, "  ")}`;
  return `${kind} ${nameOf(field.name)}${around(declared)} {\n  ${selected}\n}\n`;
}

function selection(type, types, indent) {
  const { fields } = types.get(named(type)) ?? {};
  if (!fields) return types.get(named(type))?.kind === "UNION" ? " {\n    __typename\n  }" : "";
  const isPlain = ({ type, args }) =>
    ["SCALAR", "ENUM"].includes(types.get(named(type))?.kind) && !args.some(({ type }) => type.kind === "NON_NULL");
  const list =
    fields.find(({ name }) => name === "nodes") ??
    (fields.some(({ name }) => name === "nextToken") && fields.find(({ name }) => name === "items"));
  const lines = list
    ? [`${list.name}${selection(list.type, types, `${indent}  `)}`]
    : fields
        .filter(isPlain)
        .slice(0, SELECTED)
        .map(({ name }) => name);
  return ` {\n${(lines.length ? lines : ["__typename"]).map((line) => `${indent}  ${line}\n`).join("")}${indent}}`;
}

function emptyValue(type, types) {
  const inner = type.kind === "NON_NULL" ? type.ofType : type;
  if (inner.kind === "LIST") return [];
  if (inner.kind === "ENUM") return types.get(inner.name).enumValues[0].name;
  if (inner.kind === "INPUT_OBJECT") return {};
  return { Int: 0, Float: 0, Boolean: false }[inner.name] ?? "";
}

/** A type as the language writes it. */
export function typeText(type) {
  if (type.kind === "NON_NULL") return `${typeText(type.ofType)}!`;
  return type.kind === "LIST" ? `[${typeText(type.ofType)}]` : type.name;
}

/** The name of the type within lists and non-null types. */
export const named = (type) => (type.ofType ? named(type.ofType) : type.name);
const nameOf = (field) => field[0].toUpperCase() + field.slice(1);

/** A text of one operation with a name, by which its tab is called, and with variables for its first arguments. */
export function namedOperation(text, { kinds }) {
  const language = window.GraphiQL?.GraphQL;
  try {
    const [operation, ...others] = language.parse(text).definitions;
    if (operation.name || others.length) return { query: text };
    const { operation: kind, selectionSet, loc } = operation;
    const fields = kinds.find((one) => one.kind === kind)?.fields ?? [];
    const lifted = liftedArguments(language, selectionSet.selections, fields);
    const declared = lifted.map(({ name, type }) => `$${name}: ${type}`).join(", ");
    const title = ` ${nameOf(selectionSet.selections[0].name.value)}${declared ? `(${declared})` : ""}`;
    const from = text[loc.start] === "{" ? loc.start : loc.start + kind.length;
    const edits = [
      { from, to: from, text: text[loc.start] === "{" ? `query${title} ` : title },
      ...lifted.map(({ name, from, to }) => ({ from, to, text: `$${name}` })),
    ];
    const query = edits
      .sort((a, b) => b.from - a.from)
      .reduce((text, edit) => text.slice(0, edit.from) + edit.text + text.slice(edit.to), text);
    const values = Object.fromEntries(lifted.map(({ name, value }) => [name, value]));
    return { query, ...(lifted.length ? { variables: JSON.stringify(values, null, 2) } : {}) };
  } catch {
    return { query: text };
  }
}

/** The literal arguments of root fields, each with the name and the type of its variable. */
function liftedArguments(language, selections, fields) {
  const names = new Set();
  return selections.flatMap((selection) =>
    (selection.arguments ?? []).flatMap(({ name, value }) => {
      const known = fields
        .find((field) => field.name === selection.name.value)
        ?.args.find((one) => one.name === name.value);
      if (!known || value.kind === "Variable" || names.has(name.value)) return [];
      names.add(name.value);
      return [
        {
          name: name.value,
          type: typeText(known.type),
          from: value.loc.start,
          to: value.loc.end,
          value: language.valueFromASTUntyped(value),
        },
      ];
    }),
  );
}
