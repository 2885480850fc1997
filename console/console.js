// The page at `/`: an editor for operations, and beside it the plan and the cost of the last one.

import { graphiql } from "./graphiql.js";
import { plainEditor } from "./plain_editor.js";
import { showPlan } from "./plan.js";

const settings = JSON.parse(document.getElementById("settings").textContent);
const editor = document.getElementById("editor");
const plan = document.getElementById("plan");
const planSwitch = document.getElementById("plan-switch");

/** The address of a path of the server, which may stand behind a proxy that puts a path before all of them. */
const address = (path) => new URL(path, document.baseURI);

/** Sends a request as `fetch` does, asks for the plan, and shows the plan that the answer carries. */
async function explainedFetch(url, options = {}) {
  if (!settings.explain) return fetch(url, options);
  const headers = new Headers(options.headers);
  headers.set("X-Keyfold-Explain", "1");
  const response = await fetch(url, { ...options, headers });
  const answer = await response.clone().json().catch(() => null);
  const explained = answer?.extensions?.keyfold;
  // GraphiQL introspects by itself. Its query has no plan to show.
  if (explained && (explained.calls.length || explained.plan.reads?.length)) showPlan(plan, explained);
  return response;
}

function turnPlan(open) {
  plan.hidden = !open;
  planSwitch.setAttribute("aria-expanded", String(open));
}

if (settings.explain) {
  planSwitch.hidden = false;
  planSwitch.addEventListener("click", () => turnPlan(plan.hidden));
  showPlan(plan, null);
  turnPlan(window.matchMedia("(min-width: 70rem)").matches);
}

const start = window.GraphiQL && window.React && window.ReactDOM ? graphiql : plainEditor;
start(editor, { address, fetch: explainedFetch, startingText: settings.startingText });
