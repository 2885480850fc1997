// The page of the README, served from another port of this machine: its fetch reaches `keyfold dev` with a token that the README's command prints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { PATIENCE, startBrowser } from "./browser.js";
import { startServer } from "./server.js";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
/** The page, and the subject of the token. */
const [, html] = readme.match(/```html\n(.*?)```/s);
const [, subject] = readme.match(/^cargo run -q -- token --sub (\S+)$/m);

let browser, server, pages;
let shown = "";

before(async () => {
  server = await startServer(".");
  browser = await startBrowser();
  pages = createServer((request, response) => response.setHeader("Content-Type", "text/html").end(shown));
  await new Promise((resolve) => pages.listen(0, "127.0.0.1", resolve));
});

after(async () => {
  pages.close();
  await browser.close();
  await server.stop();
});

/** What the page shows with a token. The server of the test has another port. */
async function answer(token) {
  const address = server.address.replace("127.0.0.1", "localhost");
  shown = html.replace("http://localhost:4000/", address).replace("TOKEN", token);
  assert.ok(shown.includes(address) && shown.includes(token));
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`http://localhost:${pages.address().port}/page.html`);
  await page.waitForFunction(() => document.querySelector("#answer")?.textContent);
  const text = await page.$eval("#answer", (element) => element.textContent);
  await page.close();
  return JSON.parse(text);
}

test("the page shows the caller and her groups", { timeout: 2 * PATIENCE }, async () => {
  const { data, errors } = await answer(server.token(subject));
  assert.equal(errors, undefined);
  assert.equal(data.me.name, "Aiko Tanaka");
  assert.ok(data.me.groups.nodes.length > 0);
});

test("a token that is cut off is explained to the page", { timeout: 2 * PATIENCE }, async () => {
  const { data, errors } = await answer(server.token(subject).slice(0, -5));
  assert.equal(data, undefined);
  assert.match(errors[0].message, /The sign-in is refused.*`keyfold token/);
});
