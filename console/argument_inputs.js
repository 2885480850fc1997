// The arguments of a field, with the API's types, in; labelled inputs, and the values that they hold, out.

import { make } from "./make.js";
import { named, typeText } from "./operations.js";

/** Scalars whose values are numbers in JSON. */
const NUMBERS = ["Int", "Float"];

/** An input for each argument, with the value that is known: `{ element, read }`. `read` gives the value; nothing if it is left out. */
export function argumentInputs(args, types, known) {
  const inputs = args.map((arg) => ({ name: arg.name, ...inputOf(arg, types, known?.[arg.name], arg.name) }));
  const read = () => {
    const values = inputs.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined);
    return Object.fromEntries(values);
  };
  return { elements: inputs.map(({ element }) => element), read };
}

function inputOf({ name, type, defaultValue }, types, known, path) {
  const isNeeded = type.kind === "NON_NULL" && (defaultValue ?? null) === null;
  const inner = type.kind === "NON_NULL" ? type.ofType : type;
  const declared = types.get(named(type));
  if (inner.kind === "INPUT_OBJECT") return objectInput(name, declared, types, known, { isNeeded, path });
  const title = make("span", {}, name, make("code", { className: "where" }, ` ${typeText(type)}`));
  const labelled = (control) => make("label", {}, title, control);
  if (inner.kind === "LIST") return jsonInput(labelled, known, { isNeeded, path });
  if (inner.kind === "ENUM") return choiceInput(labelled, declared.enumValues.map(({ name }) => [name, name]), known, { isNeeded, path });
  if (inner.name === "Boolean") return choiceInput(labelled, [[true, "true"], [false, "false"]], known, { isNeeded, path });
  return textInput(labelled, inner.name, known, { isNeeded, path });
}

/** The fields of an input object. One that is not needed is left out while all of its inputs are empty. */
function objectInput(name, declared, types, known, { isNeeded, path }) {
  const fields = declared.inputFields.map((field) => ({ name: field.name, ...inputOf(field, types, known?.[field.name], `${path}.${field.name}`) }));
  const element = make("fieldset", {}, make("legend", {}, name, make("code", { className: "where" }, ` ${declared.name}`)), fields.map(({ element }) => element));
  const read = () => {
    const values = fields.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined);
    return values.length || isNeeded ? Object.fromEntries(values) : undefined;
  };
  return { element, read };
}

function textInput(labelled, scalar, known, { isNeeded, path }) {
  const isNumber = NUMBERS.includes(scalar);
  const type = isNumber ? { type: "number", step: scalar === "Int" ? "1" : "any" } : { type: "text" };
  // A value that does not follow from the item is the argument's name.
  const isUnknown = known === undefined || known === null || known === path.split(".").at(-1);
  const value = isUnknown ? "" : typeof known === "string" ? known : JSON.stringify(known);
  const input = make("input", { ...type, value, required: isNeeded, name: path, autocomplete: "off", spellcheck: false });
  const read = () => {
    if (input.value === "") return isNeeded && !isNumber ? "" : undefined;
    return isNumber ? Number(input.value) : scalar === "JSON" ? JSON.parse(input.value) : input.value;
  };
  return { element: labelled(input), read };
}

function choiceInput(labelled, options, known, { isNeeded, path }) {
  const values = isNeeded ? options : [[undefined, ""], ...options];
  const select = make("select", { name: path, required: isNeeded }, values.map(([, text], at) => make("option", { value: `${at}` }, text)));
  select.value = `${Math.max(values.findIndex(([value]) => value === known), 0)}`;
  return { element: labelled(select), read: () => values[Number(select.value)][0] };
}

/** A list, as JSON. */
function jsonInput(labelled, known, { isNeeded, path }) {
  const area = make("textarea", { value: known === undefined ? "" : JSON.stringify(known, null, 1), name: path, rows: 3, required: isNeeded, spellcheck: false });
  const parsed = () => JSON.parse(area.value || "null");
  area.addEventListener("input", () => {
    try {
      parsed();
      area.setCustomValidity("");
    } catch (error) {
      area.setCustomValidity(`This is no JSON: ${error.message}`);
    }
  });
  return { element: labelled(area), read: () => (area.value.trim() ? parsed() : undefined) };
}
