// `extensions.keyfold` of a response in; bands of calls out, each call with its reads and the paths of their fields.

/** Kinds of calls: the name of each, as the legend has it. */
export const KINDS = { get: "Get", query: "Query", scan: "Scan", write: "Write", service: "Service" };

const OPERATIONS = { GetItem: "get", BatchGetItem: "get", Get: "get", Query: "query", Scan: "scan" };
/** From so many equal calls of a wave on, they are one row. */
const MANY = 12;

/** The bands: waves of a query; what comes before, in and after the write of a mutation. */
export function bandsOf(explained) {
  const steps = explained.plan.steps ?? [explained.plan];
  const reads = readsOf(steps, explained.atMost?.fields ?? []);
  const written = Math.max(
    0,
    ...explained.calls.filter(({ operation }) => !OPERATIONS[operation]).map(({ wave }) => wave),
  );
  const isWrite = steps.some(({ write }) => write);
  const calls = [
    ...(isWrite ? measuredAfter(written, explained, reads, steps.length) : measured(explained.calls, reads)),
    ...services(explained),
  ].sort((a, b) => a.start - b.start);
  const name = ({ step, id }) => `${step}.${id}`;
  const served = new Set(calls.flatMap((call) => call.reads.map(name)));
  const planned = [...groupsOf(reads.filter((read) => !served.has(name(read)))), ...plannedServices(steps, calls)];
  const writes = steps.flatMap((step, at) => (step.write ? [{ ...step.write, at }] : []));
  return writes.length ? writeBands(writes, calls, planned) : waveBands(calls, planned);
}

/** The reads of all steps, each with the path of its field. Costs have one for each read, after the step's write. */
function readsOf(steps, all) {
  const left = [...all];
  return steps.flatMap((step, at) => {
    const reads = step.reads ?? [];
    // What a write must know comes before the write itself.
    if (step.write) left.splice(0, left.findIndex(({ field }) => field === `Mutation.${step.write.field}`) + 1);
    const costs = left.splice(0, reads.length);
    const own = reads.map((read, position) => ({ ...read, step: at, path: costs[position]?.path ?? [], plan: step }));
    // A rule is asked where the items are read that it guards.
    for (const read of own.filter(({ path, field }) => !path.length && field.startsWith("@auth of "))) {
      read.path = own.find(({ type, path }) => path.length && read.field.endsWith(` ${type}`))?.path ?? [];
    }
    return own;
  });
}

/** The reads that are one call: Gets of a wave, and the reads that share a Query. */
function groupsOf(reads) {
  const groups = new Map();
  for (const read of reads) {
    const collection = (read.plan.collections ?? []).findIndex(({ reads }) => reads.includes(read.id));
    const shared =
      collection >= 0 ? `shared ${collection}` : OPERATIONS[read.operation] === "get" ? "gets" : `alone ${read.id}`;
    const key = `${read.step} ${read.wave} ${shared}`;
    groups.set(key, [...(groups.get(key) ?? []), read]);
  }
  return [...groups.values()].map((reads) => {
    const queried = reads.find(({ operation }) => OPERATIONS[operation] !== "get");
    const [{ wave, table, index }] = reads;
    const operation = queried?.operation ?? (reads.length > 1 ? "BatchGetItem" : "GetItem");
    return { wave, kind: OPERATIONS[operation], operation, table, index: index ?? null, reads, call: null };
  });
}

/** The calls of a mutation: reads of the selection follow the write, and all before it is what the write must know. */
function measuredAfter(written, { calls }, reads, steps) {
  // Waves of several root fields follow each other. Only tables and indexes distinguish their reads.
  const isAfter = ({ wave }) => written > 0 && wave > written;
  const moved = (list) => list.map((call) => ({ ...call, wave: steps > 1 ? 1 : call.wave - written }));
  const [before, after] = [calls.filter((call) => !isAfter(call)), calls.filter(isAfter)];
  return [
    ...measured(before, []),
    ...measured(moved(after), steps > 1 ? reads.map((read) => ({ ...read, wave: 1 })) : reads),
  ];
}

/** The calls that were made, with their reads: those of the wave, the table and the index. */
function measured(calls, reads) {
  const groups = groupsOf(reads);
  const rows = calls.map((call) => ({ ...call, kind: OPERATIONS[call.operation] ?? "write", call, reads: [] }));
  const place = ({ kind, wave, table, index }) => [kind, wave, ...(kind === "get" ? [] : [table, index])].join("\n");
  for (const key of new Set(rows.filter(({ kind }) => kind !== "write").map(place))) {
    const [made, wanted] = [rows.filter((row) => place(row) === key), groups.filter((group) => place(group) === key)];
    made.forEach((row, at) => {
      // Calls begin in the order of the plan.
      const own = made.length === wanted.length ? [wanted[at]] : wanted;
      row.reads = own.flatMap(({ reads }) => reads);
      row.isOneOf = own.length > 1 && row.kind !== "get";
    });
  }
  return joined(rows);
}

/** Many calls of one wave for the same reads as one row. */
function joined(rows) {
  const key = ({ wave, operation, table, index, reads }) =>
    [wave, operation, table, index, ...reads.map(({ step, id }) => `${step}.${id}`)].join("\n");
  const together = Object.values(Object.groupBy(rows, key));
  return together.flatMap((same) => {
    if (same.length < MANY || same[0].kind === "write") return same;
    const sum = (name) => same.reduce((sum, row) => sum + row[name], 0);
    const start = Math.min(...same.map((row) => row.start));
    const ms = Math.max(...same.map((row) => row.start + row.ms)) - start;
    return [
      { ...same[0], calls: same.length, items: sum("items"), capacity: sum("capacity"), keys: sum("keys"), start, ms },
    ];
  });
}

function services({ services = [], plan }) {
  const steps = plan.steps ?? [plan];
  return services.map((call) => {
    const planned = steps.flatMap((step) => step.calls ?? []).find(({ field }) => field === call.field);
    return { ...call, kind: "service", operation: call.service, call, reads: [], gets: planned?.gets };
  });
}

function plannedServices(steps, calls) {
  const made = new Set(calls.filter(({ kind }) => kind === "service").map(({ field }) => field));
  const planned = steps.flatMap((step) => step.calls ?? []).filter(({ field }) => !made.has(field));
  return planned.map((call) => ({ ...call, kind: "service", operation: call.service, call: null, reads: [] }));
}

function waveBands(calls, planned) {
  const rows = [...calls, ...planned];
  const numbers = [...new Set(rows.map(({ wave }) => wave))].sort((a, b) => a - b);
  return numbers.map((number) => ({
    title: `Wave ${number}`,
    kind: "wave",
    rows: rows.filter(({ wave }) => wave === number),
    actions: [],
  }));
}

/** Calls of one kind that follow each other are a band. Writes that show no call have a band all the same. */
function writeBands(writes, calls, planned) {
  const bands = [];
  const kindOf = ({ kind }) => (kind === "write" || kind === "service" ? kind : "read");
  const field = writes.map(({ field }) => field).join(", ");
  for (const call of calls) {
    const row = call.kind === "write" ? { ...call, field } : call;
    if (bands.at(-1)?.kind !== kindOf(row)) bands.push({ kind: kindOf(row), rows: [], actions: [], calls: [] });
    bands.at(-1).rows.push(row);
  }
  const actions = writes.flatMap(({ field, actions }) => actions.map((action) => ({ ...action, field })));
  const ofWrites = bands.filter(({ kind }) => kind === "write");
  const written = ofWrites.at(-1) ?? { kind: "write", rows: [], actions: [] };
  if (!ofWrites.length) bands.push(written);
  written.actions = actions;
  const called = writes.flatMap(({ calls = [] }) => calls);
  if (called.length && !bands.some(({ kind }) => kind === "service")) {
    const rows = called.map((call) => ({
      kind: "service",
      operation: call.service,
      field: call.as,
      call: null,
      reads: [],
      gets: call.gets.join(", "),
    }));
    bands.splice(bands.indexOf(written), 0, { kind: "service", rows, actions: [] });
  }
  if (planned.length) bands.push({ kind: "read", rows: planned, actions: [] });
  const at = bands.indexOf(written);
  bands.forEach((band, position) => {
    band.title = titleOf(band, position, at, written);
  });
  return bands;
}

function titleOf({ kind, rows }, position, at, written) {
  const after = position > at;
  if (kind === "service") return after ? "Services after the write" : "Services before the write";
  if (kind === "read") return after ? "Reads after the write" : "Reads before the write";
  if (position !== at) return "Record of the request";
  const isTransaction = rows.some(({ operation }) => operation === "TransactWriteItems") || written.actions.length > 1;
  return isTransaction ? "Transaction" : "Write";
}
