// The page at `/`: an editor for operations, and beside it the plan and the cost of the last one.

import { callerChoice } from "./sample_callers.js";
import { graphiql } from "./graphiql.js";
import { plainEditor } from "./plain_editor.js";
import { showPlan } from "./plan.js";

const settings = JSON.parse(document.getElementById("settings").textContent);
const editor = document.getElementById("editor");
const plan = document.getElementById("plan");
const planSwitch = document.getElementById("plan-switch");

/** The address of a path of the server, which may stand behind a proxy that puts a path before all of them. */
const address = (path) => new URL(path, document.baseURI);

const authorization = settings.parts.callers === "none"
  ? () => undefined
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
  const text = await response.text();
  return new Response(withoutPlan(text), { status: response.status, headers: response.headers });
}

/** The text of a response without its plan, which is shown. */
function withoutPlan(text) {
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    return text;
  }
  const { keyfold, ...others } = answer?.extensions ?? {};
  if (!keyfold) return text;
  // GraphiQL introspects by itself. Its query reads nothing.
  if (keyfold.plan.reads?.length || keyfold.plan.steps?.length) showPlan(plan, keyfold);
  const { extensions, ...rest } = answer;
  return JSON.stringify(Object.keys(others).length ? { ...rest, extensions: others } : rest);
}

function turnPlan(open) {
  plan.hidden = !open;
  planSwitch.setAttribute("aria-expanded", String(open));
}

document.getElementById("pages").hidden = !settings.parts.development;
if (settings.parts.plan) {
  planSwitch.hidden = false;
  planSwitch.addEventListener("click", () => turnPlan(plan.hidden));
  showPlan(plan, null);
  turnPlan(window.matchMedia("(min-width: 70rem)").matches);
}

const start = window.GraphiQL && window.React && window.ReactDOM ? graphiql : plainEditor;
// An operation in the fragment, as the page `/data` links to, is opened once.
const operation = new URLSearchParams(location.hash.slice(1)).get("operation");
if (operation) history.replaceState(null, "", location.pathname + location.search);
const startingTexts = operation ? [operation] : settings.startingTexts;
start(editor, { address, authorization, fetch: explainedFetch, startingTexts, operation: operation ?? undefined });
