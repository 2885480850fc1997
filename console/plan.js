// `extensions.keyfold` of a response in, a view of it out: the waves, what each read is for, and each call on a time line.

import { counted, make, rounded } from "./make.js";

/** Shows the plan and the calls of a response in an element; without one, says what will be shown. */
export function showPlan(element, explained) {
  if (!explained) {
    element.replaceChildren(make("h2", {}, "Plan"), make("p", { className: "note" }, "Run an operation to see its calls and what they cost."));
    return;
  }
  const { plan, calls, services = [], price } = explained;
  const end = Math.max(...[...calls, ...services].map((call) => call.start + call.ms), 0.001);
  const parts = [...(plan.reads ?? []), ...(plan.calls ?? []), ...calls, ...services];
  const numbers = [...new Set(parts.map((part) => part.wave))].sort((a, b) => a - b);
  element.replaceChildren(...[
    make("h2", {}, "Plan"),
    make("p", { className: "summary" }, summary(numbers.length, calls, services, explained, end)),
    atMost(explained.atMost, price),
    ...(plan.steps ?? []).map(stepSection),
    ...numbers.map((number) => {
      const reads = (plan.reads ?? []).filter((read) => read.wave === number);
      const asked = (plan.calls ?? []).filter((call) => call.wave === number);
      return make("section", {}, make("h3", {}, `Wave ${number}`), readList(plan, reads), serviceList(plan, asked),
        callList(calls, services, number, end));
    }),
  ].filter(Boolean));
}

function summary(waves, calls, services, { capacity, dollarsAMillion }, end) {
  if (!calls.length && !services.length) return `${counted(waves, "wave")}. No call was made, or rules hide what was read.`;
  const units = [["read", capacity.read], ["write", capacity.write]].filter(([, units]) => units > 0);
  const parts = [counted(waves, "wave"), counted(calls.filter((call) => !call.cached).length, "call"), ...units.map(([name, units]) => counted(units, `${name} unit`))];
  if (services.length) parts.push(`${counted(services.length, "call")} of services, cost unknown`);
  return [...parts, dollars(dollarsAMillion), `${rounded(end, 1)} ms`].filter(Boolean).join(" · ");
}

/** What a million such operations cost on demand; nothing if the server says no price. */
function dollars(amount) {
  return amount === undefined ? null : `$${amount.toFixed(amount === 0 || amount >= 1 ? 2 : 4)} a million`;
}

/** What the operation may cost at most, whatever the table holds. */
function atMost(bound, price) {
  if (!bound) return null;
  const dearest = bound.fields.reduce((most, field) => (!most || field.units > most.units ? field : most), null);
  const parts = [counted(bound.calls, "call"), counted(bound.capacity.read, "read unit")];
  if (bound.capacity.write) parts.push(counted(bound.capacity.write, "write unit"));
  parts.push(counted(bound.objects, "object"));
  const services = bound.services ?? [];
  if (services.length) parts.push(`${counted(services.reduce((sum, field) => sum + field.calls, 0), "call")} of services, cost unknown`);
  const hint = dearest && bound.fields.length > 1 ? ` ${dearest.field} may cost most: ${counted(dearest.units, "unit")}.` : "";
  if (price) parts.push(`${dollars(bound.dollarsAMillion)} on demand (${price.region}, prices of ${price.date})`);
  return make("p", { className: "note" }, `At most ${parts.join(", ")}.${hint}`);
}

/** One field of a mutation: its writes, and the reads after them. The waves of its calls follow those of the fields before it. */
function stepSection(step) {
  const actions = (step.write?.actions ?? []).map((action) => make("li", {}, make("strong", {}, action.type), ` ${action.action}`));
  const name = step.write ? `Mutation.${step.write.field}` : "Query";
  return make("section", {}, make("h3", {}, name), make("ul", {}, actions), readList(step, step.reads),
    serviceList(step, step.calls ?? []));
}

function readList(plan, reads) {
  const names = new Map(plan.reads?.map((read) => [read.id, read.field]));
  return make("ul", {}, reads.map((read) => readItem(read, names, sharing(plan, read))));
}

/** What services are asked: for which field, and what they wait for. */
function serviceList(plan, asked) {
  if (!asked.length) return null;
  const names = new Map(plan.reads?.map((read) => [read.id, read.field]));
  return make("ul", { className: "services" }, asked.map((call) => {
    const before = [...call.after.map((id) => names.get(id)), ...(call.afterCalls ?? [])];
    const notes = [before.length && `Waits for ${before.join(", ")}.`, "Cost unknown."].filter(Boolean).join(" ");
    return make("li", {},
      make("strong", {}, call.field), " Service ", make("span", { className: "where" }, call.service),
      make("code", {}, call.gets), make("span", { className: "note" }, notes));
  }));
}

/** The calls of a wave: those of tables, and beside them those of services. */
function callList(calls, services, wave, end) {
  const ofWave = (all) => all.filter((call) => call.wave === wave);
  return make("ol", { className: "calls" },
    [...ofWave(calls).map((call) => callItem(call, end)), ...ofWave(services).map((call) => serviceItem(call, end))]);
}

/** The reads that one Query answers together with this one. */
function sharing(plan, read) {
  const collection = (plan.collections ?? []).find((collection) => collection.reads.includes(read.id));
  return collection ? collection.reads.filter((id) => id !== read.id) : [];
}

function readItem(read, names, together) {
  const list = (ids) => ids.map((id) => names.get(id)).join(", ");
  const where = read.index ? `${read.table}, index ${read.index}` : read.table;
  const notes = [
    read.wants && `Wants ${read.wants}.`,
    read.after?.length && `Waits for ${list(read.after)}.`,
    read.knownFrom?.length && `Does not ask again for what ${list(read.knownFrom)} brought.`,
    read.rulesKnownFrom?.length && `Its rules do not look up again what ${list(read.rulesKnownFrom)} brought.`,
    together.length && `One Query reads it together with ${list(together)}.`,
    read.operation === "Scan" && "Reads the whole table or index: expensive.",
  ].filter(Boolean).join(" ");
  return make("li", {},
    make("strong", {}, read.field), ` ${read.operation} `, make("span", { className: "where" }, where),
    make("code", {}, read.key ?? ""),
    notes ? make("span", { className: "note" }, notes) : null);
}

/** When a call began, and how long it took, among all. */
function timeBar(call, end) {
  const bar = make("span", { className: "time" }, make("span", { className: "spent" }));
  bar.firstChild.style.marginInlineStart = `${(100 * call.start) / end}%`;
  bar.firstChild.style.width = `${Math.max((100 * call.ms) / end, 0.5)}%`;
  return bar;
}

function serviceItem(call, end) {
  const what = [
    counted(call.objects, "object"),
    "cost unknown",
    call.attempts > 1 && counted(call.attempts, "attempt"),
    call.failure && `failed: ${call.failure.replaceAll("_", " ")}`,
    `${rounded(call.ms, 1)} ms`,
  ].filter(Boolean).join(" · ");
  return make("li", {}, make("strong", {}, "Service"), " ", make("span", { className: "where" }, `${call.service}, ${call.field}`),
    make("span", { className: "cost" }, what), timeBar(call, end));
}

function callItem(call, end) {
  const where = call.index ? `${call.table}, index ${call.index}` : call.table;
  const what = [
    call.keys > 1 && counted(call.keys, "key"),
    counted(call.items, "item"),
    call.cached ? "from the cache" : counted(call.capacity, "unit"),
    `${rounded(call.ms, 1)} ms`,
  ].filter(Boolean).join(" · ");
  return make("li", {}, make("strong", {}, call.operation), " ", make("span", { className: "where" }, where),
    make("span", { className: "cost" }, what), timeBar(call, end));
}
