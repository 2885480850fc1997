// The page `/data`: what the tables hold. The fragment of its address says what is shown, so links and the browser's history work.

import { argumentsFrom, callerOf, creations, otherClaims } from "./write_targets.js";
import { callerChoice } from "./sample_callers.js";
import { changeForm } from "./change_form.js";
import { claimsOf } from "./key_values.js";
import { counted, make } from "./make.js";
import { itemTable } from "./item_table.js";
import { keyText, legend } from "./keys.js";
import { showItem } from "./item_uses.js";
import { followSchema } from "./schema_news.js";
import { operationsOf } from "./operations.js";
import { searchForm } from "./search.js";
import { writeDemands } from "./write_demands.js";

const form = document.getElementById("search");
const list = document.getElementById("items");
const aside = document.getElementById("item");

const address = (path) => new URL(path, document.baseURI);
/** Whether another schema is served than the page shows. */
let isStale = false;
new MutationObserver(() => isStale && aside.hidden && location.reload()).observe(aside, { attributeFilter: ["hidden"] });
// Before anything is asked for, so that no other schema comes unnoticed.
followSchema({ changed: takeSchema });
/** The form that is open is made again as the caller who is chosen. */
let reopen = () => {};
const caller = await callerChoice(document.getElementById("callers"), { address, hasSamples: true, changed: () => reopen() });
const demands = await writeDemands(address);
const api = await operationsOf(asCaller, address);

const tables = await attempt(() => json("data/tables", {}));
if (tables) {
  window.addEventListener("hashchange", show);
  await show();
}

/** Loads the page again for another schema. A form that is open is not lost: closing it shows the schema. */
function takeSchema() {
  if (aside.hidden) {
    location.reload();
    return;
  }
  if (!isStale) aside.prepend(make("p", { className: "warning", role: "status" }, "Another schema is served now. Close this to see it."));
  isStale = true;
}

/** Sends a request as `fetch` does, as the chosen caller. */
function asCaller(url, options) {
  const headers = new Headers(options.headers);
  const authorization = caller.authorization();
  if (authorization) headers.set("Authorization", authorization);
  return fetch(url, { ...options, headers });
}

/** Sends a GraphQL request as the chosen caller, with the wish for its plan. Gives the answer, and who called. */
async function send(request) {
  const headers = { "Content-Type": "application/json", "X-Keyfold-Explain": "1" };
  const authorization = caller.authorization();
  const response = await asCaller(address("graphql"), { method: "POST", headers, body: JSON.stringify(request) });
  return { answer: await response.json(), authorization };
}

/** The JSON at a path of the server, or an error whose message is the server's sentence. */
async function json(path, parameters) {
  const address = new URL(path, document.baseURI);
  address.search = new URLSearchParams(parameters);
  const response = await fetch(address);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** What the fragment asks for: the table, one of its indexes, and what the items are searched by. */
function wanted() {
  const { table: name, index: indexName, ...search } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const table = tables.find((table) => table.name === name) ?? tables[0];
  const index = table.indexes.find((index) => index.name === indexName);
  return { table, index, search };
}

/** The parameters with which the server gives the items. */
function parametersOf({ table, index, search }) {
  return { table: table.name, ...(index ? { index: index.name } : {}), ...search };
}

/** Changes the fragment, which shows something else. */
function go(parameters) {
  location.hash = new URLSearchParams(parameters);
}

/** Shows what the fragment asks for. */
async function show() {
  if (!tables.length) {
    list.replaceChildren(make("p", { className: "note" }, "The schema has no tables."));
    return;
  }
  aside.hidden = true;
  reopen = () => {};
  await showItems();
}

/** Shows the items that the fragment asks for. */
async function showItems() {
  const [place, hash] = [wanted(), location.hash];
  searchForm(form, tables, place, go);
  const page = await attempt(() => json("data/items", parametersOf(place)));
  // Meanwhile, something else may be wanted.
  if (!page || location.hash !== hash) return;
  if (place.search.type) searchForm(form, tables, place, go, page.range);
  showPage(place, page);
}

/** What an action gives. If it fails, nothing; the reason is shown in place of the items. */
async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    list.replaceChildren(make("p", { className: "trouble", role: "alert" }, error.message));
    return undefined;
  }
}

function showPage(place, { range, items, read, after }) {
  const count = make("p", { className: "note" });
  const shown = itemTable(place, range, choose);
  const more = make("button", { type: "button" }, "More items");
  let looked = 0;
  const add = (page) => {
    looked += page.read;
    const found = shown.add(page.items);
    const known = counted(found, "item");
    ({ after } = page);
    const isSearch = place.search.contains || place.search.only !== undefined;
    count.textContent = isSearch ? `${known} of ${looked}${after ? " so far" : ""}.` : after ? `The first ${known}.` : known;
    more.textContent = isSearch ? "Look further" : "More items";
    more.hidden = !after;
  };
  more.addEventListener("click", async () => {
    more.disabled = true;
    const page = await attempt(() => json("data/items", { ...parametersOf(place), after: JSON.stringify(after) }));
    more.disabled = false;
    if (page) add(page);
  });
  add({ items, read, after });
  const heading = make("h2", {}, headingOf(place, range, items));
  list.replaceChildren(heading, count, creationsOf(place, range, items), legend(place.table), shown.element, more);
}

/** A button for each mutation that creates an item of the table. Where a collection is shown, its key is known. */
function creationsOf({ table, index }, range, items) {
  const isOne = range.partition !== null;
  const parts = (type) => items.find((item) => isOne && item.type === type)?.parts[(index ?? table).partition.name] ?? [];
  const buttons = creations(demands, table.types.map(({ name }) => name)).map(({ mutation, action }) => {
    const button = make("button", { type: "button", title: mutation }, `New ${action.type}`);
    const known = argumentsFrom(demands.conditions[mutation], parts);
    button.addEventListener("click", () => openForm(aside, { mutation, known, title: `New ${action.type}`, close: () => button.focus() }));
    return button;
  });
  return make("div", { className: "creations" }, buttons);
}

/** Opens the form of a mutation in an element, for an item that it changes, or for a new one. */
function openForm(element, { mutation, known, title, item, close }) {
  const field = api.kinds.find(({ kind }) => kind === "mutation")?.fields.find(({ name }) => name === mutation);
  const form = make("section", {});
  const closing = make("button", { type: "button", ariaLabel: "Close the form" }, "Close");
  const end = () => {
    element.hidden = true;
    reopen = () => {};
    close();
  };
  closing.addEventListener("click", end);
  element.onkeydown = (event) => { if (event.key === "Escape") end(); };
  element.replaceChildren(make("div", { className: "row" }, make("h2", {}, title), closing), form);
  element.hidden = false;
  if (!field) {
    form.append(make("p", { className: "trouble" }, "The server does not tell its operations, so there is no form."));
    return;
  }
  const isDelete = (demands.conditions[mutation] ?? []).every(({ kind }) => kind === "delete" || kind === "check");
  let read = () => known;
  reopen = () => {
    const warning = item ? warningOf(mutation, item) : null;
    read = changeForm(form, { field, types: api.types, known: read(), isDelete, warning, writes: demands, send, changed: showItems });
  };
  reopen();
}

/** Says that the chosen caller writes another item than this one, and offers the caller who writes it. */
function warningOf(mutation, item) {
  const others = otherClaims(demands.conditions, mutation, item, claimsOf(caller.authorization()));
  if (!others.length) return null;
  const sentences = others.map(({ field, claim, own, text }) => `${field} is the claim ${claim}: ${own ?? "none"} as this caller, ${text} in this item.`);
  const able = callerOf(caller.samples, others);
  const button = able && make("button", { type: "button" }, `Act as ${able.name}`);
  button?.addEventListener("click", () => caller.choose(able));
  return make("div", { className: "warning", role: "note" }, make("p", {}, "This would write another item. ", sentences.join(" ")), button);
}

/** "Items of members", "Items of byUser of members", or the item collection that is shown. */
function headingOf({ table, index }, range, items) {
  const where = index ? `${index.name} of ${table.name}` : table.name;
  if (range.partition === null) return ["Items of ", where];
  const { name } = (index ?? table).partition;
  const parts = items.find((item) => item.parts[name])?.parts[name] ?? [];
  // The value of a number is not in its template.
  const whole = parts.length && parts.every(({ text }) => text !== undefined) ? parts : [{ text: range.partition }];
  const further = Object.values(range.equal ?? {}).map((text) => ` · ${text}`);
  return ["Collection ", keyText(whole), ...further, " of ", where];
}

/** Shows an item with the fields that read it and the operations that write it. */
async function choose(item, button) {
  for (const other of list.querySelectorAll("[aria-pressed=true]")) other.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-pressed", "true");
  const { table } = wanted();
  const found = await attempt(() => json("data/uses", { table: table.name, key: JSON.stringify(item.key) }));
  if (found === undefined) return;
  const close = () => {
    aside.hidden = true;
    button.setAttribute("aria-pressed", "false");
    button.focus();
  };
  const change = (use) => {
    const mutation = use.field.split(".")[1];
    openForm(aside, { mutation, known: use.arguments, title: item.type, item, close });
  };
  reopen = () => {};
  showItem(aside, { table, item, uses: found?.uses ?? [], remarks: found?.remarks ?? [], change, close });
}
