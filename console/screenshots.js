// The pictures of the README: `npm run screenshots` makes them again, with the browser and the server of the tests.

import { fileURLToPath } from "node:url";
import { openConsole, run, startBrowser, typeOperation } from "./tests/browser.js";
import { startServer } from "./tests/server.js";

const picture = (name) => fileURLToPath(new URL(`../docs/images/${name}.png`, import.meta.url));
const size = { width: 1360, height: 640 };

/** A query with two waves, some of whose calls are made side by side. */
const OPERATION = `{
  assigned(userId: "8790") {
    score
    item { id userCycle }
  }
  stats(userId: "8790") {
    completed
    correctGuesses
  }
}`;

const browser = await startBrowser();
try {
  await on("cycle-items", plan);
  await on("members", data);
} finally {
  await browser.close();
}

async function on(example, take) {
  const server = await startServer(example);
  try {
    await take(server.address);
  } finally {
    await server.stop();
  }
}

/** GraphiQL with an operation, its answer and its plan. */
async function plan(address) {
  const { page, close } = await openConsole(browser, address, size);
  await typeOperation(page, OPERATION);
  await run(page);
  await page.waitForSelector("#plan section");
  await page.screenshot({ path: picture("plan") });
  await close();
}

/** An item collection with a chosen item. */
async function data(address) {
  const path = `data#${new URLSearchParams({ table: "members", pk: "GROUP#flat" })}`;
  const { page, close } = await openConsole(browser, address, { ...size, path, ready: "#items .grid tbody" });
  await page.click("::-p-xpath(//*[@id='items']//button[normalize-space()='GROUP'])");
  await page.waitForSelector("#item:not([hidden]) a");
  await page.mouse.move(1, 1);
  await page.screenshot({ path: picture("data") });
  await close();
}
