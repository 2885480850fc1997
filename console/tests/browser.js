// Chromium, with a page of Keyfold's console in it.

import puppeteer from "puppeteer-core";

/** Longest wait for anything, in milliseconds, on a machine that does other things too. */
export const PATIENCE = Number(process.env.PATIENCE ?? 60_000);

/** GraphiQL's button that runs the operation. */
export const EXECUTE = ".graphiql-execute-button";

const options = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--disable-background-networking",
  "--disable-component-update",
  // Every name but this machine's own leads nowhere.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

export function startBrowser() {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return puppeteer.launch({ executablePath, args: options, headless: true, protocolTimeout: PATIENCE });
}

/** Opens a page of the console, until it has what `ready` selects. `troubles` gathers errors of its scripts, and requests that leave the machine or fail. */
export async function openConsole(browser, address, { path = "", ready = EXECUTE, width = 1280, height = 800, scheme = "light" } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const troubles = [];
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") troubles.push(`console: ${message.text()}`);
  });
  page.on("requestfailed", (request) => {
    // A page that is left takes its requests back.
    const { errorText } = request.failure();
    if (errorText !== "net::ERR_ABORTED") troubles.push(`failed: ${request.url()}: ${errorText}`);
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && protocol !== "blob:" && origin !== new URL(address).origin) troubles.push(`left the machine: ${request.url()}`);
  });
  await page.goto(new URL(path, address).href);
  await page.waitForSelector(ready);
  return { page, troubles, close: () => context.close() };
}

/** Puts the cursor into the editor of the operation. */
export function focusEditor(page) {
  return page.focus(".graphiql-query-editor .CodeMirror textarea");
}

/** Replaces the operation in the editor by typing. */
export async function typeOperation(page, text) {
  await focusEditor(page);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.sendCharacter(text);
}

/** Runs the operation by the keyboard. Gives the response that the page shows. */
export async function run(page) {
  // While an operation runs, the same keys stop it.
  await page.waitForFunction(() => !document.querySelector(".graphiql-execute-button")?.getAttribute("aria-label")?.startsWith("Stop"));
  await page.evaluate(() => document.querySelector(".graphiql-response .CodeMirror")?.CodeMirror.setValue(""));
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  await page.waitForFunction(() => {
    const text = document.querySelector(".graphiql-response .CodeMirror")?.CodeMirror.getValue();
    try {
      return Boolean(JSON.parse(text));
    } catch {
      return false;
    }
  });
  return JSON.parse(await responseText(page));
}

function responseText(page) {
  return page.evaluate(() => document.querySelector(".graphiql-response .CodeMirror")?.CodeMirror.getValue());
}
