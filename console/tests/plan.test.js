// The plan of the README's query as a picture: what one sees at first, and the way between fields and calls.

import assert from "node:assert/strict";
import { run, typeOperation } from "./browser.js";
import { fits, hindrances, pagesOf } from "./pages.js";

const { onPage } = pagesOf(".");

const QUERY = `{
  group(id: "22222222-2222-4222-8222-222222222222") {
    name
    users { nodes { name } }
    containers { nodes { name foods { name quantity } } }
  }
}`;

async function runQuery(page) {
  await typeOperation(page, QUERY);
  await run(page);
  await page.waitForSelector("#plan .band");
}

/** Moves the pointer onto a name in one of GraphiQL's editors. */
async function pointAt(page, editor, name) {
  const { x, y } = await page.evaluate(
    (editor, name) => {
      const { CodeMirror: code } = document.querySelector(`${editor} .CodeMirror`);
      const { left, top, bottom } = code.charCoords(code.posFromIndex(code.getValue().indexOf(name) + 1), "window");
      return { x: left + 2, y: (top + bottom) / 2 };
    },
    editor,
    name,
  );
  await page.mouse.move(x, y);
}

const lit = (page) => page.$$eval("#plan .lit", (rows) => rows.map((row) => row.querySelector(".what").textContent));
const litFields = (page, editor) =>
  page.$$eval(`${editor} .lit-field`, (marks) => marks.map((mark) => mark.textContent));

onPage("the waves, the longest call and its field are each one text", {}, async (page) => {
  await runQuery(page);
  const visible = (id) =>
    page.$eval(id, (element) =>
      element.checkVisibility() && element.getBoundingClientRect().bottom < innerHeight ? element.textContent : null,
    );
  assert.equal(await visible("#plan-waves"), "2 waves");
  assert.match(await visible("#plan-longest"), /^[\d.]+ ms, (Query|GetItem|BatchGetItem)$/);
  const owner = await visible("#plan-owner");
  assert.ok(
    (await page.$$eval("#plan .what strong", (names) => names.map((name) => name.textContent))).includes(owner),
    owner,
  );
});

onPage("a field lights its call, and the call lights its field", {}, async (page) => {
  await runQuery(page);
  await pointAt(page, ".graphiql-query-editor", "users");
  const [call, ...others] = await lit(page);
  assert.deepEqual(others, []);
  assert.match(call, /group\.users.*BatchGetItem/);
  assert.equal((await page.$$("#plan .leads")).length, 1, "the Query of the memberships leads to it");
  await page.mouse.move(2, 2);
  assert.deepEqual(await lit(page), []);
  await (await page.$("::-p-xpath(//section[h3[starts-with(., 'Wave 2')]]//summary)")).hover();
  assert.deepEqual(await lit(page), [call]);
  assert.ok((await litFields(page, ".graphiql-query-editor")).includes("users"));
  assert.ok((await litFields(page, ".graphiql-response")).includes('"users"'));
  await pointAt(page, ".graphiql-response", '"users"');
  assert.deepEqual(await lit(page), [call]);
});

onPage("a call opens to its fields with the values in their keys, by the keyboard too", {}, async (page) => {
  await runQuery(page);
  await page.focus("#plan .band .call summary");
  await page.keyboard.press("Enter");
  const open = (selector) => page.$eval(`#plan .call[open] ${selector}`, (element) => element.textContent);
  assert.equal(await open(".served strong"), "Group.memberships");
  assert.equal(await open(".key-condition"), 'GroupId = "22222222-2222-4222-8222-222222222222"');
  assert.equal(await open(".template"), 'GroupId = "{$id}"');
  assert.equal((await page.$$("#plan .lit")).length, 1, "a call in focus is lit");
});

for (const scheme of ["light", "dark"]) {
  onPage(`nothing serious hinders anybody in a ${scheme} plan`, { scheme }, async (page) => {
    await runQuery(page);
    await page.$$eval("#plan details", (all) =>
      all.forEach((one) => {
        one.open = true;
      }),
    );
    assert.deepEqual(await hindrances(page), []);
    await page.click("#operations-switch");
    assert.deepEqual(await hindrances(page), []);
  });
}

onPage("a narrow page shows the plan without a width to scroll", { width: 360, height: 740 }, async (page) => {
  await page.click("#plan-switch");
  await runQuery(page);
  await fits(page);
  assert.deepEqual(await hindrances(page), []);
});
