// The server in; out, its tables with the keys of their types, and the item types with the relations between them.

const QUERY = `{ __schema { types { kind name fields { name type { ...T } } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;

/** The tables, and the item types: of each its name, table, key and relations. Where the server tells nothing, none. */
export async function readModel() {
  const [tables, answer] = await Promise.all([
    json("data/tables"),
    json("graphql", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query: QUERY }),
    }),
  ]);
  const objects = new Map(
    (answer?.data?.__schema.types ?? []).filter(({ kind }) => kind === "OBJECT").map((type) => [type.name, type]),
  );
  const names = new Set((tables ?? []).flatMap(({ types }) => types.map(({ name }) => name)));
  const types = (tables ?? []).flatMap((table) =>
    table.types.map((type) => ({
      name: type.name,
      table: table.name,
      key: [table.partition, table.sort].filter(Boolean).map(({ name }) => templateText(type.keys[name]?.[0] ?? [])),
      relations: relations(objects, names, objects.get(type.name)),
    })),
  );
  return { tables: tables ?? [], types };
}

/** The fields of a type that lead to item types, through a connection too. */
function relations(objects, names, type) {
  return (type?.fields ?? []).flatMap(({ name, type: wrapped }) => {
    const { of, isList } = unwrapped(wrapped);
    if (names.has(of)) return [{ name, to: of, isList }];
    const nodes = objects.get(of)?.fields.find(({ name }) => name === "nodes" || name === "items");
    const node = nodes && unwrapped(nodes.type).of;
    return names.has(node) ? [{ name, to: node, isList: true }] : [];
  });
}

function unwrapped(type) {
  let isList = false;
  let inner = type;
  for (; inner.ofType; inner = inner.ofType) isList ||= inner.kind === "LIST";
  return { of: inner.name, isList };
}

/** A key template as the schema has it. */
export function templateText(parts) {
  return parts.map(({ constant, field, claim, number }) => constant ?? `{${field ?? claim ?? number}}`).join("");
}

async function json(path, options) {
  try {
    const response = await fetch(new URL(path, document.baseURI), options);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}
