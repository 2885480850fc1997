// A schema with mistakes in the pages: beside a right one that goes on serving, and in place of all pages before there is one.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { EXECUTE, PATIENCE, openConsole, run, startBrowser, typeOperation } from "./browser.js";
import { fits, hindrances, pagesOf } from "./pages.js";
import { startServer } from "./server.js";

const RIGHT = "  me: User @find";
const WRONG = "  me: Usr @find";
const other = (text) => text.replace(RIGHT, `  myself: User @find(where: { id: "{auth.sub}" })\n${RIGHT}`);
const broken = (text) => text.replace(RIGHT, WRONG);
const mended = (text) => text.replace(WRONG, RIGHT);

const { onPage, server } = pagesOf("members");
const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
const isGone = (page) => page.waitForFunction(() => document.querySelector("#mistakes").hidden);

/** Waits until the page shows the mistake, with its place, the line and what is right. */
async function showsMistake(page) {
  await page.waitForSelector("#mistakes:not([hidden]) .finding");
  assert.match(await text(page, "#mistakes summary"), /schema\.graphql has 1 mistake/);
  assert.equal(await text(page, "#mistakes mark"), "Usr");
  assert.match(await text(page, "#mistakes pre"), /^\d+ {3}me: Usr @find/);
  assert.match(await text(page, "#mistakes .help"), /User/);
  assert.match(await text(page, "#mistakes .finding .where"), /schema\.graphql:\d+:7$/);
}

for (const [scheme, width] of [["light", 1280], ["dark", 360]]) {
  onPage(`a mistake shows at once and goes away, ${scheme}, ${width} pixels`, { scheme, width, height: 800 }, async (page) => {
    server().changeSchema(broken);
    await showsMistake(page);
    assert.match(await text(page, "#mistakes summary"), /The last right schema goes on serving/);
    assert.deepEqual(await hindrances(page), []);
    await fits(page);
    await typeOperation(page, "{ me { name } }");
    assert.equal((await run(page)).errors, undefined);
    const link = await page.$eval("#mistakes .finding a", ({ href }) => href);
    const anchor = await page.evaluate(async (link) => (await (await fetch(link)).text()).includes(`id="${link.split("#")[1]}"`), link);
    assert.ok(anchor, link);
    server().changeSchema(mended);
    await isGone(page);
  });
}

for (const [path, ready] of [["data", "#items table"], ["design", ".document h2"]]) {
  onPage(`the page /${path} shows a mistake`, { path, ready }, async (page) => {
    server().changeSchema(broken);
    await showsMistake(page);
    assert.deepEqual(await hindrances(page), []);
    // The page can be loaded meanwhile.
    await page.reload();
    await page.waitForSelector(ready);
    await showsMistake(page);
    await page.evaluate(() => { window.isOld = true; });
    server().changeSchema(mended);
    // The page is loaded again for the schema that is served now.
    await page.waitForFunction((ready) => !window.isOld && document.querySelector(ready) && document.querySelector("#mistakes")?.hidden, {}, ready);
  });
}

onPage("the editor and the list take another schema", {}, async (page) => {
  await page.waitForSelector("#operations:not([hidden]) button");
  assert.equal(await page.$("::-p-xpath(//*[@id='operations']//button[strong='myself'])"), null);
  server().changeSchema(other);
  await page.waitForSelector("::-p-xpath(//*[@id='operations']//button[strong='myself'])");
  // Of an unknown field, the editor would say so.
  await typeOperation(page, "{ myself { name } nothing }");
  await page.waitForFunction(() => {
    const { CodeMirror: code } = document.querySelector(".graphiql-query-editor .CodeMirror");
    const marked = code.getAllMarks().filter(({ className }) => className?.includes("lint")).map((mark) => mark.find()).map(({ from, to }) => code.getRange(from, to));
    return marked.length === 1 && marked[0].startsWith("nothing");
  });
  server().changeSchema((text) => text.replace(/ {2}myself: .*\n/, ""));
  await page.waitForFunction(() => ![...document.querySelectorAll("#operations strong")].some(({ textContent }) => textContent === "myself"));
});

let browser, wrong;

before(async () => {
  [browser, wrong] = await Promise.all([startBrowser(), startServer("members", { change: broken })]);
});

after(async () => {
  await browser?.close();
  await wrong?.stop();
});

test("a server that starts with a wrong schema shows it, and the page becomes the console", { timeout: 3 * PATIENCE }, async () => {
  const { page, troubles, close } = await openConsole(browser, wrong.address, { path: "data", ready: "#mistakes .finding" });
  await showsMistake(page);
  assert.match(await text(page, "#mistakes summary"), /There is no API yet/);
  assert.deepEqual(await hindrances(page), []);
  await page.setViewport({ width: 360, height: 740 });
  await fits(page);
  await page.goto(wrong.address);
  await showsMistake(page);
  wrong.changeSchema(mended);
  await page.waitForSelector(EXECUTE);
  await typeOperation(page, "{ me { name } }");
  assert.deepEqual((await run(page)).data, { me: { name: "Aiko Tanaka" } });
  // Browsers say it of each page with this status.
  assert.deepEqual(troubles.filter((trouble) => !trouble.includes("status of 503")), []);
  await close();
});
