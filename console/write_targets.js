// What a mutation demands of the items that it writes in; out, which of them a form can know, and whether it writes another item.

/** The mutations that create an item of one of these types, each with the type and its action. */
export function creations({ conditions }, types) {
  const actions = Object.entries(conditions).flatMap(([mutation, actions]) => actions.map((action) => ({ mutation, action })));
  const found = actions.filter(({ action }) => action.kind === "put" && types.includes(action.type));
  // A mutation that creates several items is there once, for the first of them.
  return found.filter(({ mutation }, at) => found.findIndex((other) => other.mutation === mutation) === at);
}

/** The arguments of a mutation's actions that follow from the parts that the key of a collection has for each type. */
export function argumentsFrom(actions, parts) {
  const known = {};
  const fields = actions.flatMap(({ type, bound }) => parts(type).map(({ field, text }) => ({ source: bound[field], text })));
  for (const { source, text } of fields) {
    const path = source?.match(/^\{\$([^{}]+)\}$/)?.[1].split(".");
    if (!path || text === undefined) continue;
    const within = path.slice(0, -1).reduce((object, name) => (object[name] ??= {}), known);
    within[path.at(-1)] = text;
  }
  return known;
}

/** The fields of an item's key that are a claim of the caller, with the item's value and that of the caller, where they differ. */
export function otherClaims(conditions, mutation, item, claims) {
  const action = (conditions[mutation] ?? []).find(({ type }) => type === item.type);
  const parts = Object.values(item.parts).flat();
  const differing = parts.flatMap(({ field, claim, text }) => {
    const name = claim?.replace(/^auth\./, "") ?? action?.bound[field]?.match(/^\{auth\.([^{}]+)\}$/)?.[1];
    const own = name && valueOf(claims, name);
    return name && text !== undefined && own !== text ? [{ field: field ?? claim, claim: name, own, text }] : [];
  });
  return differing.filter(({ claim }, at) => differing.findIndex((other) => other.claim === claim) === at);
}

/** The sample caller whose claims are those that an item's key has. */
export function callerOf(samples, others) {
  return samples.find(({ claims }) => others.every(({ claim, text }) => valueOf(claims, claim) === text));
}

function valueOf(claims, dotted) {
  const value = dotted.split(".").reduce((value, name) => value?.[name], claims);
  return value === undefined || value === null ? undefined : `${value}`;
}
