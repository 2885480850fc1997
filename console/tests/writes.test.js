// The plan of a mutation that reads, calls a service and writes a transaction, and of one whose condition failed.

import assert from "node:assert/strict";
import { run, typeOperation } from "./browser.js";
import { pagesOf } from "./pages.js";

const { onPage } = pagesOf("shop");

const pay = (key) => `mutation {
  payOrder(customerId: "mei", orderId: "2026-11-20-1", amount: "62.9", key: "${key}") { paid customer { name } }
}`;
const texts = (page, selector) => page.$$eval(selector, (elements) => elements.map((element) => element.textContent));

onPage("a mutation has bands for its reads, its services and its transaction", {}, async (page) => {
  await typeOperation(page, pay("first"));
  const { data, errors } = await run(page);
  assert.deepEqual(
    { data, errors },
    { data: { payOrder: { paid: "62.9", customer: { name: "Mei Tanaka" } } }, errors: undefined },
  );
  await page.waitForSelector("#plan .actions");
  const bands = await page.$$eval("#plan .band > h3", (titles) => titles.map((title) => title.firstChild.textContent));
  assert.deepEqual(bands, [
    "Reads before the write",
    "Record of the request",
    "Services before the write",
    "Transaction",
    "Reads after the write",
  ]);
  const transaction = "#plan .band.write:has(.actions)";
  assert.match((await texts(page, `${transaction} .what`)).join(), /payOrder.*TransactWriteItems/);
  assert.deepEqual(await texts(page, `${transaction} .actions .key-condition`), [
    'PK = "CUSTOMER#mei" AND SK = "ORDER#2026-11-20-1"',
  ]);
  assert.match((await texts(page, "#plan .band.service .what")).join(), /Service payments/);
  assert.match((await texts(page, "#plan .band:last-of-type .what")).join(), /payOrder\.customer.*GetItem/);
});

onPage("what a mutation demands of an item is shown where it fails", {}, async (page) => {
  await typeOperation(page, pay("second"));
  const { errors } = await run(page);
  assert.equal(errors[0].message, "This order is paid.");
  await page.waitForSelector("#plan .failed");
  assert.match((await texts(page, "#plan .condition.failed")).join(), /^if attribute_not_exists\(paid\)/);
  assert.deepEqual(await texts(page, "#plan .actions .refused"), ["This condition failed: This order is paid."]);
});
