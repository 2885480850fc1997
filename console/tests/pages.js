// Tests on pages of `keyfold dev`, each on a page of its own, and what every page is tested for.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { openConsole, startBrowser } from "./browser.js";
import { startServer } from "./server.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pictures = process.env.PICTURES;

/** Starts a browser and a server on an example for the tests of a file. */
export function pagesOf(example, options) {
  let browser;
  let server;

  before(async () => {
    [browser, server] = await Promise.all([startBrowser(), startServer(example, options)]);
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** A test on a page of its own, on which nothing may fail. */
  function onPage(name, options, check) {
    test(name, async () => {
      const { page, troubles, close } = await openConsole(browser, server.address, options);
      try {
        await check(page);
      } finally {
        if (pictures) await page.screenshot({ path: `${pictures}/${name.replaceAll(/[ /]/g, "_")}.png` });
      }
      assert.deepEqual(troubles, []);
      await close();
    });
  }

  return { onPage, server: () => server };
}

/** What seriously hinders anybody on a page, outside GraphiQL itself. */
export async function hindrances(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ exclude: [".graphiql-container"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join("\n    ")}`);
}

/** Asserts that a page has no width to scroll. */
export async function fits(page) {
  const [width, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= visible, `${width} of ${visible} pixels`);
}
