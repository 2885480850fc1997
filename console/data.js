// The page `/data`: what the tables hold. The fragment of its address says what is shown, so links and the browser's history work.

import { counted, make } from "./make.js";
import { itemTable } from "./item_table.js";
import { keyText, legend } from "./keys.js";
import { showItem } from "./item_uses.js";
import { searchForm } from "./search.js";

const form = document.getElementById("search");
const list = document.getElementById("items");
const aside = document.getElementById("item");

const tables = await attempt(() => json("data/tables", {}));
if (tables) {
  window.addEventListener("hashchange", show);
  await show();
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
  const [place, address] = [wanted(), location.hash];
  aside.hidden = true;
  searchForm(form, tables, place, go);
  const page = await attempt(() => json("data/items", parametersOf(place)));
  // Meanwhile, something else may be wanted.
  if (!page || location.hash !== address) return;
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

function showPage(place, { range, items, after }) {
  const count = make("p", { className: "note" });
  const shown = itemTable(place, range, choose);
  const more = make("button", { type: "button" }, "More items");
  const add = (page) => {
    const known = counted(shown.add(page.items), "item");
    ({ after } = page);
    count.textContent = after ? `The first ${known}.` : known;
    more.hidden = !after;
  };
  more.addEventListener("click", async () => {
    more.disabled = true;
    const page = await attempt(() => json("data/items", { ...parametersOf(place), after: JSON.stringify(after) }));
    more.disabled = false;
    if (page) add(page);
  });
  add({ items, after });
  list.replaceChildren(make("h2", {}, headingOf(place, range, items)), count, legend(place.table), shown.element, more);
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
  showItem(aside, item, found?.uses ?? [], () => {
    aside.hidden = true;
    button.setAttribute("aria-pressed", "false");
    button.focus();
  });
}
