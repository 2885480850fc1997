// The news of the schema's file in; a panel with its mistakes while it has some, and a call when another schema is served, out.

import { counted, make } from "./make.js";

/** After how many milliseconds a stream is asked for again that the server refused. */
const RETRY = 1000;

/** An address of the server. The page in place of others may stand at any path. */
const address = (path) => new URL(path, new URL(document.documentElement.dataset.root ?? "", document.baseURI));

/**
 * Shows the mistakes of the schema's file below the header of the page. `changed` is called when another schema is served
 * than the one that was when the page was loaded; `isServed` says whether there was one.
 */
export function followSchema({ isServed = true, changed }) {
  const panel = make("section", { id: "mistakes", className: "mistakes", ariaLabel: "Mistakes of the schema", ariaLive: "polite", hidden: true });
  document.querySelector("header").after(panel);
  let known = isServed ? undefined : null;
  let stream;
  const hear = ({ data }) => {
    const { served, trouble } = JSON.parse(data);
    showTrouble(panel, trouble, served);
    if (known !== undefined && served && served !== known) changed();
    known = served;
  };
  // A browser opens few connections to a server, so a page that nobody sees has none.
  const follow = () => {
    if (document.hidden) {
      stream?.close();
      stream = undefined;
    } else if (!stream) {
      stream = new EventSource(address("dev/schema"));
      stream.addEventListener("message", hear);
      // An answer that is no stream ends an EventSource for good.
      stream.addEventListener("error", () => {
        if (stream?.readyState !== EventSource.CLOSED) return;
        stream = undefined;
        setTimeout(follow, RETRY);
      });
    }
  };
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", () => stream?.close());
  window.addEventListener("pageshow", ({ persisted }) => { if (persisted) { stream = undefined; follow(); } });
  follow();
}

/** Shows what is wrong, or nothing. What stays the same keeps its place. */
function showTrouble(panel, trouble, served) {
  const text = JSON.stringify(trouble);
  if (panel.dataset.shown === text) return;
  panel.dataset.shown = text;
  panel.hidden = !trouble;
  if (!trouble) {
    panel.replaceChildren();
    return;
  }
  const { file, findings, more, reason } = trouble;
  const errors = findings.filter(({ severity }) => severity === "error").length + more;
  const name = file.split(/[\\/]/).pop();
  const isOpen = panel.querySelector("details")?.open ?? true;
  const next = served
    ? "The last right schema goes on serving. This goes away when the file is right again."
    : "There is no API yet. It begins when the file is right; nothing needs a restart.";
  panel.replaceChildren(make("details", { open: isOpen },
    make("summary", {}, make("strong", { title: file }, reason ? `${name} is not served` : `${name} has ${counted(errors, "mistake")}`), " ", make("span", { className: "note" }, next)),
    make("ol", {}, reason ? make("li", { className: "finding error" }, make("p", {}, reason)) : findings.map((one) => finding(one, file))),
    more ? make("p", { className: "note" }, `and ${more} more`) : null));
}

/** A finding: what it says, where, the line with its place underlined, and what to write instead. */
function finding({ severity, code, message, help, page, line, column, before, marked, after }, file) {
  return make("li", { className: `finding ${severity}` },
    make("p", {}, page ? make("a", { href: address(page).href, target: "_blank", title: "What it means, and what is right" }, code) : code, " ", make("strong", {}, message)),
    make("p", { className: "where" }, `${file}:${line}:${column}`),
    make("pre", { tabIndex: 0 }, make("span", { className: "line" }, `${line} `), before, make("mark", {}, marked || " "), after),
    help ? make("p", { className: "help" }, make("span", { className: "where" }, "help "), help) : null);
}
