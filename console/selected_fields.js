// The text of an operation with its variables in; out, its fields: the path of each in the answer, its arguments, and
// the place of its name.

/** The fields of an operation, in the order of the text; none if the text is not read. */
export function selectedFields({ query, variables = {}, operationName }) {
  const language = window.GraphiQL?.GraphQL;
  if (!language) return [];
  let parsed;
  try {
    parsed = language.parse(query);
  } catch {
    return [];
  }
  const operation = language.getOperationAST(parsed, operationName);
  if (!operation) return [];
  const fragments = new Map(
    parsed.definitions.filter(({ kind }) => kind === "FragmentDefinition").map((one) => [one.name.value, one]),
  );
  const given = { ...defaults(language, operation), ...variables };
  const fields = [];

  function add(selections, path, within) {
    for (const selection of selections) {
      if (selection.kind === "Field") {
        const key = selection.alias ?? selection.name;
        const own = [...path, key.value];
        const of = Object.fromEntries(
          selection.arguments.map(({ name, value }) => [name.value, language.valueFromASTUntyped(value, given)]),
        );
        fields.push({
          path: own,
          name: selection.name.value,
          arguments: of,
          from: key.loc.start,
          to: selection.name.loc.end,
        });
        add(selection.selectionSet?.selections ?? [], own, within);
        continue;
      }
      const name = selection.name?.value;
      // A fragment that spreads itself is refused by the server.
      if (selection.kind === "FragmentSpread" && within.includes(name)) continue;
      const spread = selection.kind === "FragmentSpread" ? fragments.get(name) : selection;
      add(spread?.selectionSet.selections ?? [], path, name ? [...within, name] : within);
    }
  }
  add(operation.selectionSet.selections, [], []);
  return fields;
}

/** Whether an operation is of this kind: `query`, `mutation` or `subscription`. */
export function isOperation(kind, { query, operationName }) {
  const language = window.GraphiQL?.GraphQL;
  try {
    return language?.getOperationAST(language.parse(query), operationName)?.operation === kind;
  } catch {
    return false;
  }
}

/** The values of variables that have a default. */
function defaults(language, { variableDefinitions = [] }) {
  const known = variableDefinitions.filter(({ defaultValue }) => defaultValue);
  return Object.fromEntries(
    known.map(({ variable, defaultValue }) => [variable.name.value, language.valueFromASTUntyped(defaultValue)]),
  );
}
