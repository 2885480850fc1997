// The page `/data`: item collections, indexes, search, and the way from an item to an operation that runs.

import assert from "node:assert/strict";
import { EXECUTE, focusEditor, run } from "./browser.js";
import { fits, hindrances, pagesOf } from "./pages.js";

const { onPage } = pagesOf("members");
const options = { path: "data", ready: "#items table tbody" };

/** Waits for a heading above the items that begins so. */
function shown(page, text) {
  return page.waitForFunction((text) => document.querySelector("#items h2")?.textContent.startsWith(text), {}, text);
}

/** The texts of the elements that a selector finds. */
const texts = (page, selector) => page.$$eval(selector, (elements) => elements.map((element) => element.textContent));

const collection = (place) => `data#${new URLSearchParams({ table: "members", ...place })}`;

/** Opens the collection of the flat and chooses its group. */
async function chooseGroup(page) {
  await page.click("#items a[href*='GROUP%23flat']");
  await shown(page, "Collection GROUP#flat of members");
  await (await page.waitForSelector("::-p-xpath(//*[@id='items']//button[normalize-space()='GROUP'])")).click();
  await page.waitForSelector("#item:not([hidden]) a");
}

onPage("a collection holds the items of all types in the order of their keys", options, async (page) => {
  await chooseGroup(page);
  assert.deepEqual(await texts(page, "#items .grid tbody th"), ["CONTAINER#fridge", "CONTAINER#shelf", "GROUP", "INVITATION"]);
  assert.deepEqual(await texts(page, "#items .grid td.type"), ["Container", "Container", "Group", "Invitation"]);
  assert.deepEqual(await texts(page, "#items .grid tbody th .constant"), ["CONTAINER#", "CONTAINER#", "GROUP", "INVITATION"]);
  assert.deepEqual(await texts(page, "#items .grid tbody th .field"), ["fridge", "shelf"]);
  assert.deepEqual((await texts(page, "#items .grid thead th")).slice(0, 3), ["SK", "Type", "name"]);
  await page.goBack();
  await shown(page, "Items of members");
});

onPage("an item leads to a field that reads it", options, async (page) => {
  await chooseGroup(page);
  await page.click("::-p-xpath(//*[@id='item']//a[.='Query.group'])");
  await page.waitForSelector(EXECUTE);
  await focusEditor(page);
  const { data, errors } = await run(page);
  assert.deepEqual({ name: data?.group?.name, errors }, { name: "The flat", errors: undefined });
});

onPage("an item leads to an operation that writes it", options, async (page) => {
  await chooseGroup(page);
  await page.click("::-p-xpath(//*[@id='item']//a[.='Mutation.renameGroup'])");
  await page.waitForSelector(EXECUTE);
  await focusEditor(page);
  const { data, errors } = await run(page);
  assert.deepEqual({ written: Boolean(data?.renameGroup), errors }, { written: true, errors: undefined });
});

onPage("an index shows its keys first and only what it holds", options, async (page) => {
  await page.select("#index", "byGroup");
  await shown(page, "Items of byGroup");
  assert.deepEqual((await texts(page, "#items .grid thead th")).slice(0, 5), ["groupPk", "groupSk", "Type", "PK", "SK"]);
  await page.click("#items .grid th[scope=rowgroup] a");
  await shown(page, "Collection GROUP#flat of byGroup");
  assert.deepEqual(new Set(await texts(page, "#items .grid td.type")), new Set(["Membership"]));
});

onPage("keys and the fields of a type find items", options, async (page) => {
  await page.type("#search-pk", "GROUP#flat");
  await page.type("#search-begins", "CONT");
  await page.keyboard.press("Enter");
  await shown(page, "Collection GROUP#flat");
  assert.deepEqual(await texts(page, "#items .grid td.type"), ["Container", "Container"]);
  await page.select("#type", "Membership");
  await page.type("#search-userId", "mateus");
  await page.keyboard.press("Enter");
  await shown(page, "Collection USER#mateus");
  assert.deepEqual(await texts(page, "#items .grid tbody th"), ["MEMBER#flat", "MEMBER#garden"]);
  await page.$eval("#search-userId", (input) => { input.value = ""; });
  await page.click("#search button");
  assert.ok(await page.$eval("#search-userId", (input) => input.matches(":invalid:focus")), "without its partition key, nothing is searched");
});

onPage("on the page of the tables, too, a keyboard alone is enough", { ...options, path: collection({ pk: "GROUP#flat" }) }, async (page) => {
  const focused = (matches) => page.evaluate((matches) => document.activeElement.matches(matches), matches);
  const tabTo = async (matches) => {
    for (let steps = 0; steps < 40 && !(await focused(matches)); steps += 1) await page.keyboard.press("Tab");
    assert.ok(await focused(matches), matches);
  };
  await tabTo("#items .opener");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.closest("#item"));
  await page.keyboard.press("Escape");
  assert.ok(await focused("#items .opener"));
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.closest("#item"));
  await tabTo("#item a");
  await page.keyboard.press("Enter");
  await page.waitForSelector(EXECUTE);
});

for (const scheme of ["light", "dark"]) {
  onPage(`nothing serious hinders anybody on the ${scheme} page of the tables`, { ...options, scheme }, async (page) => {
    assert.deepEqual(await hindrances(page), []);
    await chooseGroup(page);
    await page.click(".legend summary");
    assert.deepEqual(await hindrances(page), []);
  });

  onPage(`a narrow ${scheme} page of the tables has no width to scroll`, { ...options, width: 360, height: 740, scheme }, async (page) => {
    await fits(page);
    await chooseGroup(page);
    await fits(page);
    assert.deepEqual(await hindrances(page), []);
  });
}
