// `extensions.keyfold` of a response with its request in, a picture of it out: calls on a time axis, and their cost.

import { counted, make, rounded } from "./make.js";
import { claimsOf, keyValues } from "./key_values.js";
import { linkFields } from "./plan_links.js";
import { actionList, callRow, fieldName, legend } from "./plan_calls.js";
import { bandsOf } from "./plan_rows.js";
import { selectedFields } from "./selected_fields.js";

/** Says what will be shown here. */
export function showNothing(element) {
  linkFields(element, [], new Map());
  element.replaceChildren(
    make("h2", {}, "Plan"),
    make("p", { className: "note" }, "Run an operation to see its calls and what they cost."),
  );
}

/** Says why there is no plan: the operation did not run. */
export function showRefused(element, errors) {
  linkFields(element, [], new Map());
  element.replaceChildren(
    make("h2", {}, "Plan"),
    make("p", { className: "refused" }, "The operation did not run, so it has no plan."),
    make(
      "ul",
      { className: "errors" },
      errors.map(({ message }) => make("li", {}, message)),
    ),
  );
}

/** Shows the calls of an operation: `explained` and `errors` of its response, what was sent, and who called. */
export function showPlan(element, { explained, data, errors = [], request, authorization, writes, fields = selectedFields(request) }) {
  const bands = bandsOf(explained);
  const rows = bands.flatMap((band) => band.rows);
  const values = keyValues({ fields, claims: claimsOf(authorization), data });
  const time = timeOf(rows.filter(({ call }) => call));
  const shown = new Map();
  const sections = bands.map((band) => section(band, { time, values, explained, shown, errors, writes, fields, data }));
  element.replaceChildren(
    ...[
      make("h2", {}, "Plan"),
      facts(explained, rows),
      hiddenNote(explained, rows),
      legend(rows),
      axis(rows, time),
      ...sections,
      comparison(explained, rows),
    ].filter(Boolean),
  );
  linkFields(element, fields, shown);
}

/** The time that the axis shows: from the beginning of the first call to the end of the last. */
function timeOf(calls) {
  const first = Math.min(...calls.map(({ start }) => start));
  const last = Math.max(...calls.map(({ start, ms }) => start + ms));
  return { first, span: Math.max(last - first, 0.001) };
}

/** What one sees first: the waves, the longest call, and the field that owns it. */
function facts({ waves }, rows) {
  const longest = rows.filter(({ call }) => call).reduce((most, row) => (!most || row.ms > most.ms ? row : most), null);
  const fact = (id, name, text) => make("div", {}, make("dt", {}, name), make("dd", { id }, text));
  return make(
    "dl",
    { className: "facts" },
    fact("plan-waves", "Round trips", counted(waves, "wave")),
    longest ? fact("plan-longest", "Slowest call", `${rounded(longest.ms, 1)} ms, ${longest.operation}`) : null,
    longest ? fact("plan-owner", "Its field", fieldName(longest)) : null,
  );
}

/** What was measured, and beside it what the operation may take at most. */
function comparison({ plan, calls, services = [], capacity, dollarsAMillion, atMost, price }, rows) {
  if (!atMost) return null;
  const isMeasured = rows.some(({ call }) => call);
  const of = (value) => (isMeasured ? value : "–");
  const sent = calls.filter(({ cached }) => !cached).length;
  const cached = calls.length - sent;
  const planned =
    (atMost.services ?? []).reduce((sum, { calls }) => sum + calls, 0) +
    (plan.steps ?? []).reduce((sum, { write }) => sum + (write?.calls ?? []).length, 0);
  const lines = [
    ["Calls", of(`${sent}${cached ? ` + ${cached} cached` : ""}`), `${rounded(atMost.calls, 0)}`],
    ["Read units", of(rounded(capacity.read, 1)), rounded(atMost.capacity.read, 1)],
    atMost.capacity.write > 0 && ["Write units", of(rounded(capacity.write, 1)), rounded(atMost.capacity.write, 1)],
    (services.length || planned) && ["Service calls", of(`${services.length}`), `${planned}`],
    price && ["Per million", of(dollars(dollarsAMillion)), dollars(atMost.dollarsAMillion)],
  ].filter(Boolean);
  const head = make(
    "tr",
    {},
    make("td", {}),
    make("th", { scope: "col" }, "Measured"),
    make("th", { scope: "col" }, "At most"),
  );
  const row = ([name, ...values]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      values.map((value) => make("td", {}, value)),
    );
  const note = price ? make("p", { className: "note" }, `On demand, ${price.region}, prices of ${price.date}.`) : null;
  return make(
    "div",
    { className: "price" },
    make("h3", {}, "Cost"),
    make("table", { className: "costs" }, make("thead", {}, head), make("tbody", {}, lines.map(row))),
    note,
  );
}

function dollars(amount) {
  return `$${amount.toFixed(amount === 0 || amount >= 1 ? 2 : 4)}`;
}

/** Why calls that were made are not shown. */
function hiddenNote({ calls, services = [] }, rows) {
  if (calls.length || services.length || !rows.length) return null;
  return make(
    "p",
    { className: "note" },
    "No call was made, or a rule hides items, and with them what was measured. The calls are those of the plan.",
  );
}

/** The time axis, from the first call on: its beginning, its middle and its end. */
function axis(rows, { span }) {
  if (!rows.some(({ call }) => call)) return null;
  return make(
    "div",
    { className: "axis", ariaHidden: "true" },
    [0, span / 2, span].map((at) => make("span", {}, `${rounded(at, span < 10 ? 1 : 0)} ms`)),
  );
}

function section(band, context) {
  const measured = band.rows.filter(({ call }) => call);
  const time = measured.length
    ? Math.max(...measured.map(({ start, ms }) => start + ms)) - Math.min(...measured.map(({ start }) => start))
    : null;
  const size = [
    band.rows.length &&
      counted(
        band.rows.reduce((sum, row) => sum + (row.calls ?? 1), 0),
        "call",
      ),
    time !== null && `${rounded(time, 1)} ms`,
  ];
  const heading = make("h3", {}, band.title, make("span", { className: "where" }, size.filter(Boolean).join(" · ")));
  return make(
    "section",
    { className: `band ${band.kind}` },
    heading,
    make(
      "ol",
      { className: "calls" },
      band.rows.map((row) => callRow(row, context)),
    ),
    band.actions.length ? actionList(band.actions, context) : null,
  );
}
