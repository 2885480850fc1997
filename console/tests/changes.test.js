// The page `/data`: items are created, changed and deleted by forms of the schema's mutations, as a chosen caller.

import assert from "node:assert/strict";
import { fits, hindrances, pagesOf } from "./pages.js";

const { onPage } = pagesOf(".");

const GROUP = "22222222-2222-4222-8222-222222222222";
const FRIDGE = "33333333-3333-4333-8333-333333333333";
const TABLE = "nishiki-table-dev-db";
const at = (pk) => ({ path: `data#${new URLSearchParams({ table: TABLE, pk })}`, ready: "#items table tbody" });

/** Chooses the item whose sort key begins so. */
async function choose(page, sort) {
  await page.click(`::-p-xpath(//*[@id='items']//button[starts-with(normalize-space(), '${sort}')])`);
  await page.waitForSelector("#item:not([hidden]) > dl");
}

/** Opens the form of a mutation of the chosen item. */
async function fillIn(page, mutation) {
  await page.click(`#item [aria-label='Fill in Mutation.${mutation}']`);
  await page.waitForSelector(`.change[aria-label='Arguments of ${mutation}']`);
}

/** Replaces the text of an input. */
async function put(page, name, value) {
  await page.$eval(`.change [name='${name}']`, (input) => { input.value = ""; });
  await page.type(`.change [name='${name}']`, value);
}

/** Sends the form. Gives the sentences of the outcome, and the kinds of the calls in the plan. */
async function send(page) {
  await page.click(".change button[type=submit]");
  await page.waitForSelector(".outcome > p");
  await page.waitForSelector(".plan h2");
  const outcome = await page.$$eval(".outcome > p", (texts) => texts.map(({ textContent }) => textContent));
  const calls = await page.$$eval(".plan .calls .kind", (kinds) => kinds.map(({ textContent }) => textContent));
  return { outcome, calls };
}

const foods = async (page) => {
  await choose(page, "Container");
  const json = await page.$eval("#item > details pre", ({ textContent }) => textContent);
  return JSON.parse(json).Foods;
};

onPage("a caller creates, changes and deletes a food without GraphQL", at(FRIDGE), async (page) => {
  const before = await foods(page);
  await fillIn(page, "addFood");
  await put(page, "groupId", GROUP);
  await put(page, "input.name", "Tofu");
  await put(page, "input.category", "soy");
  await put(page, "input.quantity", "2.5");
  const added = await send(page);
  assert.deepEqual(added.outcome, ["The change is made."]);
  assert.ok(added.calls.some((call) => /TransactWriteItems|UpdateItem/.test(call)), added.calls.join());

  const tofu = (await foods(page)).find((food) => food.Name === "Tofu");
  assert.equal(tofu.Quantity, 2.5, "a number is a number");
  await fillIn(page, "updateFood");
  await put(page, "groupId", GROUP);
  await put(page, "foodId", tofu.FoodId);
  for (const name of ["name", "unit", "category", "expiry"]) await put(page, `input.${name}`, "");
  await put(page, "input.quantity", "1");
  assert.deepEqual((await send(page)).outcome, ["The change is made."]);
  assert.equal((await foods(page)).find((food) => food.Name === "Tofu").Quantity, 1);

  await fillIn(page, "removeFood");
  await put(page, "groupId", GROUP);
  await put(page, "foodId", tofu.FoodId);
  assert.match(await page.$eval(".change button[type=submit]", ({ className }) => className), /delete/);
  assert.deepEqual((await send(page)).outcome, ["The change is made."]);
  assert.deepEqual(await foods(page), before);
});

onPage("a stranger cannot", at(FRIDGE), async (page) => {
  await page.select("#caller", "3");
  const before = await foods(page);
  await fillIn(page, "addFood");
  await put(page, "groupId", GROUP);
  const { outcome } = await send(page);
  assert.equal(outcome.length, 1);
  assert.match(outcome[0], /^FORBIDDEN You are not allowed to do this: `Mutation.addFood` has the rule `if Membership\(/);
  assert.deepEqual(await foods(page), before);
});

onPage("a form that would write another item says so, and offers the caller who writes it", at(GROUP), async (page) => {
  await page.goto(new URL(at("34296a83-d4a8-442a-a7f8-c874e6b9197d").path, page.url()).href);
  await page.waitForFunction(() => document.querySelector("#items h2")?.textContent.includes("34296a83"));
  await choose(page, "User");
  await fillIn(page, "renameUser");
  assert.match(await page.$eval(".warning p", ({ textContent }) => textContent), /would write another item.*11111111.*34296a83/);
  await page.click(".warning button");
  await page.waitForFunction(() => !document.querySelector(".warning"));
  assert.equal(await page.$eval("#caller", ({ value }) => value), "1");
});

onPage("a new item of a collection has the collection's key", at(GROUP), async (page) => {
  await page.click("::-p-xpath(//button[.='New Container'])");
  await page.waitForSelector(".change");
  assert.equal(await page.$eval(".change [name='groupId']", ({ value }) => value), GROUP);
});

onPage("a text is found in any value, and items of a type by themselves", { ...at(FRIDGE), path: "data" }, async (page) => {
  await page.type("#search-any-text", "kitchen fridge");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /^2 items of \d+/.test(document.querySelector("#items .note")?.textContent));
  await page.$eval("#search-any-text", (input) => { input.value = ""; });
  await page.select("#only", "Group");
  await page.waitForFunction(() => [...document.querySelectorAll("#items td.type")].every(({ textContent }) => textContent === "Group"));
  assert.ok((await page.$$("#items tbody tr")).length > 1);
});

for (const [width, scheme] of [[1440, "light"], [1024, "dark"], [360, "light"]]) {
  onPage(`a form at ${width} pixels, ${scheme}`, { ...at(FRIDGE), width, scheme }, async (page) => {
    await choose(page, "Container");
    await fillIn(page, "addFood");
    await fits(page);
    assert.deepEqual(await hindrances(page), []);
  });
}
