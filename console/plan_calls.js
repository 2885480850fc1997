// A call of a plan in; out, its bar on the time axis with what it is for, and the items of a write with conditions.

import { counted, make, rounded } from "./make.js";
import { KINDS } from "./plan_rows.js";

/** The field that a call is for, or the fields. */
export function fieldName({ kind, reads, field, isOneOf }) {
  if (kind === "service" || kind === "write") return field;
  const names = [...new Set(reads.map((read) => read.path.join(".") || read.field))];
  if (!names.length) return "read for the write";
  const text = names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more` : names.join(", ");
  return isOneOf ? `one of ${text}` : text;
}

/** The colours of the kinds that are there. */
export function legend(rows) {
  const kinds = Object.keys(KINDS).filter((kind) => rows.some((row) => row.kind === kind));
  return make(
    "p",
    { className: "kinds" },
    kinds.map((kind) => make("span", { className: `kind ${kind}` }, KINDS[kind])),
  );
}

/** One call: its bar, and behind it what it is for. `shown` gets the row with its reads. */
export function callRow(row, { time, values, explained, shown }) {
  const where = row.index ? `${row.table}, index ${row.index}` : row.table;
  const what = make(
    "span",
    { className: "what" },
    make("strong", {}, fieldName(row)),
    make(
      "span",
      { className: `kind ${row.kind}` },
      row.kind === "service" ? `Service ${row.operation}` : row.operation,
      row.calls ? ` × ${row.calls}` : "",
    ),
  );
  const details = make(
    "details",
    { className: "call" },
    make("summary", {}, what, bar(row, time)),
    make(
      "div",
      { className: "served" },
      where && !row.reads.length ? make("p", { className: "where" }, where) : null,
      failure(row),
      serviceNotes(row, explained),
      make(
        "ul",
        {},
        row.reads.map((read) => readItem(read, values)),
      ),
    ),
  );
  const element = make("li", {}, details);
  shown.set(element, row);
  return element;
}

/** When a call began and how long it took, with what it brought. Of a call that was not made, what is planned. */
function bar(row, { first, span }) {
  if (!row.call) return make("span", { className: "time planned" }, make("span", { className: "cost" }, "planned"));
  const from = (100 * (row.start - first)) / span;
  const width = Math.max((100 * row.ms) / span, 1);
  const spent = make("span", { className: `spent ${row.kind}${row.cached ? " cached" : ""}` });
  spent.style.insetInlineStart = `${Math.min(from, 99)}%`;
  spent.style.width = `${Math.min(width, 100 - Math.min(from, 99))}%`;
  const cost =
    row.kind === "service"
      ? [counted(row.objects, "object"), row.attempts > 1 && counted(row.attempts, "attempt"), row.failure && "failed"]
      : [
          row.kind !== "write" && counted(row.items, "item"),
          row.keys > 1 && counted(row.keys, "key"),
          row.cached ? "from the cache" : counted(row.capacity, "unit"),
        ];
  const text = [...cost, `${rounded(row.ms, 1)} ms`].filter(Boolean).join(" · ");
  return make(
    "span",
    { className: "time" },
    make("span", { className: "lane" }, spent),
    make("span", { className: "cost" }, text),
  );
}

function failure({ failure }) {
  return failure ? make("p", { className: "refused" }, `Failed: ${failure.replaceAll("_", " ")}.`) : null;
}

function serviceNotes({ kind, gets }) {
  if (kind !== "service") return null;
  return make(
    "p",
    { className: "note" },
    gets ? ["Gets ", make("code", {}, gets), ". "] : null,
    "What it costs is unknown.",
  );
}

/** One read of a call: its field, its key condition, and why it is there. */
function readItem(read, values) {
  const names = new Map(read.plan.reads.map((one) => [one.id, one.field]));
  const filled = values(read.key ?? "", read.path, names);
  return make(
    "li",
    {},
    make("strong", {}, read.field),
    make(
      "span",
      { className: "where" },
      ` ${read.operation} in ${read.index ? `${read.table}, index ${read.index}` : read.table}`,
    ),
    make(
      "dl",
      { className: "parts" },
      part("Key", make("code", { className: "key-condition" }, filled)),
      filled === read.key ? null : part("Template", make("code", { className: "template" }, read.key)),
      part("Why", notes(read, names).join(" ")),
      read.rules?.length
        ? part("Rules", make("ul", { className: "rules" }, read.rules.map((rule) => make("li", {}, rule))))
        : null,
    ),
  );
}

/** A name and what it stands for; nothing if that is empty. */
function part(name, text) {
  return text ? [make("dt", {}, name), make("dd", {}, text)] : null;
}

function notes(read, names) {
  const list = (ids) => ids.map((id) => names.get(id)).join(", ");
  const together =
    (read.plan.collections ?? []).find(({ reads }) => reads.includes(read.id))?.reads.filter((id) => id !== read.id) ??
    [];
  return [
    read.field.startsWith("@auth of ") && "A rule asks for it.",
    read.wants && `Reads ${read.wants}.`,
    read.over && `Over ${read.over}.`,
    read.after?.length && `Waits for ${list(read.after)}.`,
    read.knownFrom?.length && `Does not ask again for what ${list(read.knownFrom)} brought.`,
    read.earlyAfter?.length && `May come earlier if ${list(read.earlyAfter)} needs no call, or comes earlier.`,
    read.rulesKnownFrom?.length && `Its rules do not look up again what ${list(read.rulesKnownFrom)} brought.`,
    together.length && `One Query reads it together with ${list(together)}.`,
    read.maxAge !== undefined && `The cache may answer, up to ${counted(read.maxAge, "second")} old.`,
    read.operation === "Scan" && "Reads the whole table or index: expensive.",
  ].filter(Boolean);
}

/** The items of a write, each with its key and what it demands. What failed is marked. */
export function actionList(actions, { errors, writes, values, fields }) {
  const positions = new Map();
  const rows = actions.map((action) => {
    const position = positions.get(action.field) ?? 0;
    positions.set(action.field, position + 1);
    const own = fields.filter(({ path, name }) => path.length === 1 && name === action.field);
    const demand = writes?.conditions[action.field]?.[position] ?? {};
    const error = errors.find((error) => own.some(({ path }) => path[0] === error.path?.[0]));
    return { action, demand, error, path: own[0]?.path ?? [] };
  });
  const failed = rows.map((row) => row.error && failedDemand(row));
  const unexplained = [
    ...new Set(
      rows
        .filter(
          ({ error }, at) =>
            error && !rows.some((other, position) => other.error === error && failed[position]) && rows[at],
        )
        .map(({ error }) => error),
    ),
  ];
  return make(
    "div",
    {},
    make(
      "ul",
      { className: "actions" },
      rows.map((row, at) => actionItem(row, failed[at], { writes, values })),
    ),
    unexplained.map((error) =>
      make("p", { className: "refused" }, `${error.extensions?.code ?? "Error"}: ${error.message}`),
    ),
  );
}

/** Which demand of an action an error is about, if it tells: by the action's message, or by the type that it names. */
function failedDemand({ action, demand, error }) {
  if (demand.message) return demand.message === error.message ? "condition" : null;
  const code = error.extensions?.code;
  const namesType = error.message.split(/[^\w]+/).includes(action.type);
  if (!namesType) return null;
  if (code === "CONFLICT" && demand.condition && !error.message.includes("already exists")) return "condition";
  return code === "CONFLICT" || code === "NOT_FOUND" ? "presence" : null;
}

function actionItem({ action, demand, error, path }, failed, { writes, values }) {
  const keys = writes?.keys.get(action.type) ?? [];
  const template = keys.map(({ name, template }) => `${name} = "${template}"`).join(" AND ");
  const bound = template.replaceAll(/\{(\w+)\}/g, (placeholder, field) => demand.bound?.[field] ?? placeholder);
  const filled = values(bound, path, new Map());
  const conditions = [
    ["presence", demand.presence],
    ["condition", demand.condition],
  ].filter(([, text]) => text);
  return make(
    "li",
    { className: failed ? "failed" : "" },
    make("strong", {}, `${action.action} ${action.type}`),
    action.each ? make("span", { className: "where" }, ` for each of ${action.each}`) : null,
    template ? make("code", { className: "key-condition" }, filled) : null,
    template && filled !== template ? make("code", { className: "template" }, template) : null,
    conditions.map(([name, text]) =>
      make("code", { className: `condition${failed === name ? " failed" : ""}` }, `if ${text}`),
    ),
    failed ? make("p", { className: "refused" }, `This condition failed: ${error.message}`) : null,
  );
}
