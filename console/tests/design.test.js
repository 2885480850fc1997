// The page `/design` of the project's schema: its navigation, its folded sections and its drawings.

import assert from "node:assert/strict";
import { fits, hindrances, pagesOf } from "./pages.js";

const { onPage } = pagesOf(".");
const options = { path: "design", ready: ".document figure" };

/** The words of cells that a line ends within. */
const brokenWords = (page) =>
  page.$$eval(".document td, .document th", (cells) =>
    cells.flatMap((cell) => {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      const broken = [];
      while (walker.nextNode()) {
        for (const { index, 0: word } of walker.currentNode.data.matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(walker.currentNode, index);
          range.setEnd(walker.currentNode, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
        }
      }
      return broken;
    }),
  );

for (const width of [1440, 1024]) {
  onPage(
    `at ${width} pixels the design is short while it is folded, and no cell breaks a word`,
    { ...options, width, height: 900 },
    async (page) => {
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      assert.ok(height < 12_000, `${height} pixels`);
      assert.ok((await page.$$(".document td")).length > 100);
      await page.$$eval(".document details", (all) =>
        all.forEach((one) => {
          one.open = true;
        }),
      );
      assert.deepEqual(await brokenWords(page), []);
      await fits(page);
    },
  );
}

onPage("the navigation opens the section that it leads to", options, async (page) => {
  const isOpen = () => page.$eval("#favorite", (heading) => heading.closest("details").open);
  assert.equal(await isOpen(), false);
  await page.click("#contents a[href='#favorite']");
  await page.waitForFunction(() => document.querySelector("#favorite").closest("details").open);
});

onPage("the drawings have each item type, its relations, and the collections of each table", options, async (page) => {
  const drawn = await page.$$eval("figure svg", (all) =>
    all.map((one) => [one.getAttribute("aria-label"), one.textContent]),
  );
  const [, types] = drawn.find(([label]) => label === "Item types and their relations");
  assert.match(types, /Membership\{userId\}Group#\{groupId\}/);
  assert.match(types, /containers → \[Container\]/);
  const [, favorites] = drawn.find(([label]) => label === "Item collections of develop.Favorite");
  assert.match(favorites, /gsiOne.*FavoriteData#\{userId\}#\{type\}/);
  assert.equal(drawn.length, 4);
});

for (const scheme of ["light", "dark"]) {
  onPage(
    `nothing serious hinders anybody on the ${scheme} page of the design`,
    { ...options, scheme },
    async (page) => {
      assert.deepEqual(await hindrances(page), []);
    },
  );
}
