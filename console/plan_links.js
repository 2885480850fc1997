// The rows of a plan and the fields of its operation in; out, what is pointed at lights up on the other side.

/** The answer's line → the path of the field on it, without positions in lists. */
function pathsOfLines(text) {
  const stack = [];
  return text.split("\n").map((line) => {
    const depth = line.search(/\S/) / 2;
    const name = line.match(/^\s*"((?:[^"\\]|\\.)*)":/)?.[1];
    stack.length = Math.max(Math.ceil(depth), 0);
    stack[depth] = name;
    const path = stack.filter((key) => key !== undefined);
    // The first line is the response itself.
    return path[0] === "data" && name !== undefined ? path.slice(1) : null;
  });
}

const editorOf = (selector) => document.querySelector(`${selector} .CodeMirror`)?.CodeMirror;
const begins = (path, start) => start.length <= path.length && start.every((key, at) => path[at] === key);

/** Removes the links of the operation before. */
let unlink = () => {};

/** Links the rows of a plan with the fields in the editor and in the answer. `shown` has the row of each element. */
export function linkFields(element, fields, shown) {
  unlink();
  const query = editorOf(".graphiql-query-editor");
  const rows = [...shown];
  let marks = [];
  // The text at the time of the run. Where it has changed since, its fields stand elsewhere.
  const text = query?.getValue();

  function clear() {
    for (const mark of marks) mark.clear();
    marks = [];
    for (const [row] of rows) row.classList.remove("lit", "leads");
  }

  /** Lights names of fields in the operation and in the answer. */
  function lightFields(paths) {
    if (query && query.getValue() === text) {
      for (const { path, from, to } of fields.filter(({ path }) =>
        paths.some((own) => own.join("\n") === path.join("\n")),
      )) {
        marks.push(query.markText(query.posFromIndex(from), query.posFromIndex(to), { className: "lit-field" }));
      }
    }
    const answer = editorOf(".graphiql-response");
    pathsOfLines(answer?.getValue() ?? "").forEach((path, line) => {
      if (!path || !paths.some((own) => own.join("\n") === path.join("\n"))) return;
      const indent = answer.getLine(line).search(/\S/);
      marks.push(
        answer.markText(
          { line, ch: indent },
          { line, ch: answer.getLine(line).indexOf(":", indent) },
          { className: "lit-field" },
        ),
      );
    });
  }

  function lightRow(row) {
    clear();
    row.classList.add("lit");
    lightFields(pathsOf(shown.get(row), fields));
  }

  /** Lights the call that brings the field at a path or the object around it, and marks the calls that lead to it. */
  function lightPath(path) {
    clear();
    if (!path) return;
    const isOf = ([, row]) =>
      row.kind === "service" && pathsOf(row, fields).some((own) => own.join("\n") === path.join("\n"));
    const service = rows.find(isOf);
    if (service) {
      service[0].classList.add("lit");
      lightFields([path]);
      return;
    }
    const reads = rows
      .flatMap(([row, { reads }]) => reads.map((read) => ({ row, read })))
      .filter(({ read }) => read.path.length && begins(path, read.path));
    const longest = Math.max(...reads.map(({ read }) => read.path.length));
    const own = reads.filter(({ read }) => read.path.length === longest && !read.field.startsWith("@auth of "));
    const last = own.at(-1);
    const written = rows.filter(([, { kind }]) => kind === "write").at(-1);
    const lit =
      last?.row ??
      (fields.some((field) => field.path.length === 1 && field.path[0] === path[0]) ? written?.[0] : undefined);
    if (!lit) return;
    lit.classList.add("lit");
    for (const { row } of own) if (row !== lit) row.classList.add("leads");
    lightFields([last ? last.read.path : path.slice(0, 1)]);
  }

  const listeners = [];
  const listen = (target, name, action) => {
    target.addEventListener(name, action);
    listeners.push(() => target.removeEventListener(name, action));
  };
  for (const [row] of rows) {
    for (const name of ["mouseenter", "focusin"]) listen(row, name, () => lightRow(row));
    for (const name of ["mouseleave", "focusout"]) listen(row, name, clear);
  }
  if (query && rows.length) {
    const fieldAt = (index) =>
      query.getValue() === text ? fields.find(({ from, to }) => from <= index && index <= to)?.path : undefined;
    const indexAt = ({ clientX: left, clientY: top }) => query.indexFromPos(query.coordsChar({ left, top }, "window"));
    listen(query.getWrapperElement(), "mousemove", (event) => lightPath(fieldAt(indexAt(event))));
    listen(query.getWrapperElement(), "mouseleave", clear);
    const cursor = () => {
      if (query.hasFocus()) lightPath(fieldAt(query.indexFromPos(query.getCursor())));
    };
    query.on("cursorActivity", cursor);
    listeners.push(() => query.off("cursorActivity", cursor));
    const response = document.querySelector(".graphiql-response");
    listen(response, "mousemove", ({ clientX: left, clientY: top }) => {
      const answer = editorOf(".graphiql-response");
      if (answer) lightPath(pathsOfLines(answer.getValue())[answer.coordsChar({ left, top }, "window").line]);
    });
    listen(response, "mouseleave", clear);
  }
  unlink = () => {
    clear();
    for (const remove of listeners) remove();
    unlink = () => {};
  };
}

/** The paths of the fields that a call serves. Of services and writes, the plan says the field and no path. */
function pathsOf({ kind, reads, field }, fields) {
  if (kind === "service") return fields.filter(({ name }) => field.endsWith(`.${name}`)).map(({ path }) => path);
  if (kind === "write")
    return fields
      .filter(({ path, name }) => path.length === 1 && field.split(", ").includes(name))
      .map(({ path }) => path);
  return reads.map(({ path }) => path).filter((path) => path.length);
}
