// The page at `/`: an editor for operations, and beside it the plan and the cost of the last one.

import { callerChoice } from "./sample_callers.js";
import { followSchema } from "./schema_news.js";
import { graphiql, readSchemaAgain } from "./graphiql.js";
import { isOperation } from "./selected_fields.js";
import { namedOperation, operationList, operationsOf } from "./operations.js";
import { plainEditor } from "./plain_editor.js";
import { eventView, withEvents } from "./plan_events.js";
import { showNothing, showPlan, showRefused } from "./plan.js";
import { writeDemands } from "./write_demands.js";

const settings = JSON.parse(document.getElementById("settings").textContent);
const editor = document.getElementById("editor");
const plan = document.getElementById("plan");
const panels = ["operations", "plan"].map((id) => ({ panel: document.getElementById(id), button: document.getElementById(`${id}-switch`) }));
const [, planPanel] = panels;

/** The address of a path of the server, which may stand behind a proxy that puts a path before all of them. */
const address = (path) => new URL(path, document.baseURI);

const { authorization } = settings.parts.callers === "none"
  ? { authorization: () => undefined }
  : await callerChoice(document.getElementById("callers"), { address, hasSamples: settings.parts.callers === "samples" });

/** Sends a request as `fetch` does, as the chosen caller unless its headers say who calls. */
function signedInFetch(url, options = {}) {
  const headers = new Headers(options.headers);
  const isSaid = headers.has("Authorization") || headers.has("X-Api-Key");
  const token = isSaid ? undefined : authorization();
  if (token) headers.set("Authorization", token);
  return fetch(url, { ...options, headers });
}

/** Sends a request as `fetch` does, with the wish for its plan. Shows the plan, and takes it out of the response. */
async function explainedFetch(url, options = {}) {
  const headers = new Headers(options.headers);
  const isWished = headers.has("X-Keyfold-Explain");
  if (!settings.parts.plan || isWished) return signedInFetch(url, options);
  headers.set("X-Keyfold-Explain", "1");
  const response = await signedInFetch(url, { ...options, headers });
  const [text, demands] = [await response.text(), await writes];
  // Headers of the editor come before the choice.
  const caller = headers.get("Authorization") ?? (headers.has("X-Api-Key") ? undefined : authorization());
  return new Response(withoutPlan(text, { request: JSON.parse(options.body), caller, writes: demands }), { status: response.status, headers: response.headers });
}

/** The text of a response without its plan, which is shown. */
function withoutPlan(text, { request, caller, writes }) {
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    return text;
  }
  const { keyfold, ...others } = answer?.extensions ?? {};
  // GraphiQL introspects by itself.
  const isIntrospection = request.operationName === "IntrospectionQuery";
  if (!keyfold) {
    if (!isIntrospection) {
      showRefused(plan, answer.errors ?? []);
      openPlan();
    }
    return text;
  }
  const { data, errors } = answer;
  const explained = { explained: keyfold, data, errors, request, authorization: caller, writes };
  if (!isIntrospection) requestAnimationFrame(() => { showPlan(plan, explained); openPlan(); });
  const { extensions, ...rest } = answer;
  return JSON.stringify(Object.keys(others).length ? { ...rest, extensions: others } : rest);
}

/** The results of an operation. Those of a subscription are shown as events, too. */
function observed(request, results) {
  if (!settings.parts.plan || !isOperation("subscription", request) || !results[Symbol.asyncIterator]) return results;
  openPlan();
  return withEvents(results, eventView(plan));
}

/** Shows the plan where another panel is. */
function openPlan() {
  if (panels.some(({ panel }) => !panel.hidden)) open(planPanel);
}

/** Opens one of the panels in place of the others, or none. */
function open(opened) {
  for (const { panel, button } of panels) {
    panel.hidden = panel !== opened?.panel;
    button.setAttribute("aria-expanded", String(!panel.hidden));
  }
}

/** Goes on with another schema: the editor completes its fields, and the list has its operations. */
async function takeSchema() {
  readSchemaAgain();
  writes = writeDemands(address);
  operationList(panels[0].panel, await operationsOf(signedInFetch, address));
}

document.getElementById("pages").hidden = !settings.parts.development;
for (const one of panels.filter((one) => one !== planPanel || settings.parts.plan)) {
  one.button.hidden = false;
  one.button.addEventListener("click", () => open(one.panel.hidden ? one : undefined));
}
if (settings.parts.plan) showNothing(plan);
if (window.matchMedia("(min-width: 70rem)").matches) open(panels[0]);

/** What writes demand, which only a server for development tells. */
let writes = settings.parts.development ? writeDemands(address) : undefined;

const start = window.GraphiQL && window.React && window.ReactDOM ? graphiql : plainEditor;
// An operation in the fragment, as the page `/data` links to, is opened once.
const operation = new URLSearchParams(location.hash.slice(1)).get("operation");
if (operation) history.replaceState(null, "", location.pathname + location.search);
const operations = await operationsOf(signedInFetch, address);
operationList(panels[0].panel, operations);
const startingTexts = (operation ? [operation] : settings.startingTexts).map((text) => namedOperation(text, operations));
if (settings.parts.development) followSchema({ changed: takeSchema });
start(editor, { address, authorization, fetch: explainedFetch, observed, startingTexts, isWanted: Boolean(operation) });
