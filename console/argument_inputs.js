// The arguments of a field, with the API's types, in; labelled inputs, and the values that they hold, out.

import { make } from "./make.js";
import { named, typeText } from "./operations.js";

/** Scalars whose values are numbers in JSON. */
const NUMBERS = ["Int", "Float"];

/** An input for each argument, with the value that is known: `{ elements, read }`. `read` gives the values that are not left out. */
export function argumentInputs(args, types, known) {
  const inputs = args.map((arg) => ({ name: arg.name, ...inputOf(arg, types, known?.[arg.name], { path: [arg.name], within: [] }) }));
  for (const { require } of inputs) require(true);
  return { elements: inputs.map(({ element }) => element), read: () => valuesOf(inputs) };
}

function valuesOf(inputs) {
  const values = inputs.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined);
  return Object.fromEntries(values);
}

/** An input: its element, its value (`read`), and `require`, which says whether what holds it is needed or given. */
function inputOf({ name, type, defaultValue }, types, known, place) {
  const isNeeded = type.kind === "NON_NULL" && (defaultValue ?? null) === null;
  const inner = type.kind === "NON_NULL" ? type.ofType : type;
  const declared = types.get(named(type));
  const title = make("span", {}, name, make("code", { className: "where" }, ` ${typeText(type)}`));
  const labelled = (control) => make("label", {}, title, Object.assign(control, { name: place.path.join(".") }));
  // An object within one of its own type is JSON, so that the form has an end.
  if (inner.kind === "INPUT_OBJECT" && !place.within.includes(inner.name)) return objectInput(name, declared, types, known, { isNeeded, place });
  if (inner.kind === "LIST" || inner.kind === "INPUT_OBJECT" || inner.name === "JSON") return jsonInput(labelled, known, isNeeded);
  if (inner.kind === "ENUM") return choiceInput(labelled, declared.enumValues.map(({ name }) => name), known, isNeeded);
  if (inner.name === "Boolean") return choiceInput(labelled, [true, false], known, isNeeded);
  return textInput(labelled, inner.name, known, isNeeded);
}

/** The fields of an input object. One that is not needed is left out while all of its inputs are empty. */
function objectInput(name, declared, types, known, { isNeeded, place }) {
  const at = (field) => ({ path: [...place.path, field], within: [...place.within, declared.name] });
  const fields = declared.inputFields.map((field) => ({ name: field.name, ...inputOf(field, types, known?.[field.name], at(field.name)) }));
  const element = make("fieldset", {}, make("legend", {}, name, make("code", { className: "where" }, ` ${declared.name}`)), fields.map(({ element }) => element));
  const isGiven = () => fields.some(({ isEmpty }) => !isEmpty());
  let isOuterGiven = false;
  const require = (outer) => {
    isOuterGiven = outer;
    for (const field of fields) field.require((outer && isNeeded) || isGiven());
  };
  element.addEventListener("input", () => require(isOuterGiven));
  const read = () => (isGiven() || isNeeded ? valuesOf(fields) : undefined);
  return { element, read, require, isEmpty: () => !isGiven() };
}

/** An input with one control. */
function single(labelled, control, isNeeded, value) {
  const isEmpty = () => control.value.trim() === "";
  const require = (isGiven) => { control.required = isNeeded && isGiven; };
  return { element: labelled(control), read: () => (isEmpty() ? undefined : value(control.value)), require, isEmpty };
}

function textInput(labelled, scalar, known, isNeeded) {
  const isNumber = NUMBERS.includes(scalar);
  const type = isNumber ? { type: "number", step: scalar === "Int" ? "1" : "any" } : { type: "text" };
  const text = known === undefined || known === null ? "" : typeof known === "string" ? known : JSON.stringify(known);
  const input = make("input", { ...type, value: text, autocomplete: "off", spellcheck: false });
  return single(labelled, input, isNeeded, (text) => (isNumber ? Number(text) : text));
}

/** A choice. Nothing is chosen that is not known. */
function choiceInput(labelled, values, known, isNeeded) {
  const select = make("select", {}, [make("option", { value: "" }, ""), ...values.map((value) => make("option", { value: `${value}` }, `${value}`))]);
  select.value = values.some((value) => `${value}` === `${known}`) ? `${known}` : "";
  return single(labelled, select, isNeeded, (text) => values.find((value) => `${value}` === text));
}

/** A list, or another value that is written as JSON. */
function jsonInput(labelled, known, isNeeded) {
  const area = make("textarea", { value: known === undefined ? "" : JSON.stringify(known, null, 1), rows: 3, spellcheck: false });
  area.addEventListener("input", () => {
    try {
      JSON.parse(area.value || "null");
      area.setCustomValidity("");
    } catch (error) {
      area.setCustomValidity(`This is no JSON: ${error.message}`);
    }
  });
  return single(labelled, area, isNeeded, JSON.parse);
}
