// A key condition of a plan in; the same out, with the values of this request put in where the page knows them.

/** A function that fills the key condition of a read from the fields of the operation, the claims and the answer. */
export function keyValues({ fields, claims, data }) {
  return (template, path, names) =>
    template.replaceAll(/\{([^{}]+)\}/g, (placeholder, name) => {
      if (name.startsWith("$")) return known(argument(fields, path, name.slice(1))) ?? placeholder;
      if (name.startsWith("auth.")) return known(within(claims, name.slice("auth.".length))) ?? placeholder;
      const [of, ...rest] = name.split(".");
      if (of === "element")
        return (
          known(within(data?.[path[0]], rest.join("."))) ?? known(argument(fields, path, rest.join("."))) ?? placeholder
        );
      // What an earlier read brought differs from row to row.
      return of.startsWith("#") ? `{${rest.join(".")} of ${names.get(Number(of.slice(1))) ?? of}}` : placeholder;
    });
}

/** The argument of the field at a path or of a field around it; none where two of them have different ones. */
function argument(fields, path, name) {
  const around = fields.filter((field) => field.path.every((key, at) => path[at] === key));
  const values = around.map((field) => within(field.arguments, name)).filter((value) => known(value) !== undefined);
  return new Set(values).size === 1 ? values[0] : undefined;
}

function within(object, dotted) {
  return dotted.split(".").reduce((value, name) => value?.[name], object);
}

/** The text of a value that a key may hold. */
function known(value) {
  return ["string", "number", "boolean"].includes(typeof value) ? `${value}` : undefined;
}

/** The claims in a token, without a check: the server checks it. */
export function claimsOf(authorization) {
  try {
    const part = authorization.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (sign) => sign.codePointAt(0))));
  } catch {
    return {};
  }
}
