// The page `/data` of items that another program wrote: what the schema would write otherwise, and items of no type.

import assert from "node:assert/strict";
import { fits, hindrances, pagesOf } from "./pages.js";

const item = (attributes) => Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name, { S: text }]));
const members = [
  item({ PK: "USER#zoe", SK: "MEMBER#garden", role: "MEMBER", groupPk: "GROUP#flat", groupSk: "zoe" }),
  item({ PK: "USER#zoe", SK: "USR", name: "Zoë" }),
];
const { onPage } = pagesOf("members", { samples: { members } });
const options = { path: `data#${new URLSearchParams({ table: "members", pk: "USER#zoe" })}`, ready: "#items .strays" };
const texts = (page, selector) => page.$$eval(selector, (elements) => elements.map((element) => element.textContent));

for (const [scheme, width] of [["light", 1440], ["dark", 1024], ["dark", 360]]) {
  onPage(`items that the schema would write otherwise are marked, ${scheme}, ${width} pixels`, { ...options, scheme, width, height: 800 }, async (page) => {
    assert.deepEqual(await texts(page, ".strays .opener"), ["USER#zoe · USR"]);
    assert.deepEqual(await texts(page, ".strays .reason"), ['User comes nearest: SK is "USR", and User has "USER".']);
    const [mark, ...others] = await page.$$eval(".remarked", (marks) => marks.map((mark) => [mark.closest("tr").querySelector(".opener").textContent, mark.ariaLabel]));
    assert.deepEqual(others, []);
    assert.deepEqual(mark, ["MEMBER#garden", 'The schema would write groupPk = "GROUP#garden", so the index lists it at another place.']);
    assert.deepEqual(await hindrances(page), []);
    await fits(page);
    await page.click("#items tr:has(.remarked) .opener");
    await page.waitForSelector("#item:not([hidden]) .warning");
    assert.deepEqual(await texts(page, "#item .warning li"), [mark[1]]);
    await page.click(".strays .opener");
    await page.waitForFunction(() => document.querySelector("#item h2")?.textContent.startsWith("An item of no"));
    assert.match((await texts(page, "#item .warning li"))[0], /^User comes nearest/);
    assert.deepEqual(await hindrances(page), []);
    await fits(page);
  });
}
