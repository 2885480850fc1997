// The server's address in; out, what each mutation demands of the items that it writes, and the key templates of types.

/** The conditions of each mutation's actions, and the keys of each type: their attributes and templates. */
export async function writeDemands(address) {
  const [conditions, tables] = await Promise.all([json(address("dev/writes"), {}), json(address("data/tables"), [])]);
  const keys = new Map(tables.flatMap((table) => table.types.map((type) => [type.name, keysOf(table, type)])));
  return { conditions, keys };
}

/** The primary key of a type. */
function keysOf(table, type) {
  const names = [table.partition, table.sort].filter(Boolean).map(({ name }) => name);
  return names.flatMap((name) => {
    // Of alternatives, the first is the one that is written.
    const [parts] = type.keys[name] ?? [];
    return parts ? [{ name, template: parts.map(partText).join("") }] : [];
  });
}

function partText({ constant, field, claim, number }) {
  return constant ?? `{${field ?? claim ?? number}}`;
}

async function json(path, otherwise) {
  try {
    const response = await fetch(path);
    return response.ok ? await response.json() : otherwise;
  } catch {
    return otherwise;
  }
}
