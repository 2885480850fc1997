// The page of `keyfold dev` in a browser that can reach nothing else: as a user sees it, and as a keyboard alone drives it.

import assert from "node:assert/strict";
import { EXECUTE, PATIENCE, focusEditor, run, typeOperation } from "./browser.js";
import { fits, hindrances, pagesOf } from "./pages.js";

const { onPage, server } = pagesOf("members");

onPage("the operation at the start answers", {}, async (page) => {
  await focusEditor(page);
  const { data, errors } = await run(page);
  assert.ok(data && !errors, JSON.stringify(errors));
});

onPage("a field is completed", {}, async (page) => {
  await typeOperation(page, "{ memb");
  const isOffered = () => page.evaluate(() => Boolean(document.querySelector(".CodeMirror-hints")?.textContent.includes("memberships")));
  // Nothing is offered before the page has the schema.
  const deadline = Date.now() + PATIENCE;
  while (!(await isOffered()) && Date.now() < deadline) {
    await page.keyboard.down("Control");
    await page.keyboard.press("Space");
    await page.keyboard.up("Control");
    // The news of the schema stay open.
    await page.waitForNetworkIdle({ concurrency: 1 });
  }
  assert.ok(await isOffered());
});

onPage("a query shows its plan", {}, async (page) => {
  await typeOperation(page, "{ me { name } memberships { role } }");
  const { data } = await run(page);
  assert.equal(data.me.name, "Aiko Tanaka");
  const plan = await page.waitForSelector("#plan section");
  assert.ok(plan);
  const text = await page.$eval("#plan", (element) => element.textContent);
  assert.match(text, /1 wave.*Wave 1/s);
  assert.match(text, /User\.|Query\.me/);
  assert.match(text, /Per million.*\$\d+\.\d+On demand, us-east-1, prices of 2024-11-01\./);
});

onPage("a mutation writes and shows its plan", {}, async (page) => {
  await typeOperation(page, "mutation { createGroup(id: \"browser\", name: \"From a browser\") { name } }");
  const { data, errors } = await run(page);
  assert.deepEqual({ data, errors }, { data: { createGroup: { name: "From a browser" } }, errors: undefined });
  await page.waitForFunction(() => document.querySelector("#plan").textContent.includes("put Group"));
});

onPage("a subscription shows each change", {}, async (page) => {
  await typeOperation(page, 'subscription { container(groupId: "flat", id: "fridge") { foods { name } } }');
  // GraphiQL looks at a new operation a moment later, and until then takes it for a query.
  const deadline = Date.now() + PATIENCE;
  let response = await run(page);
  while (response.errors && Date.now() < deadline) response = await run(page);
  assert.ok(response.data?.container.foods.length > 0, JSON.stringify(response));
  const mutation = 'mutation { addFood(groupId: "flat", containerId: "fridge", food: { name: "Bread of a browser" }) { id } }';
  await page.evaluate(async (query) => {
    const [{ token }] = await (await fetch("dev/callers")).json();
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    await fetch("graphql", { method: "POST", headers, body: JSON.stringify({ query }) });
  }, mutation);
  await page.waitForFunction(() => document.querySelector(".graphiql-response .CodeMirror").CodeMirror.getValue().includes("Bread of a browser"));
  assert.match(await page.$eval("#plan [role=status]", (element) => element.textContent), /^The subscription runs\. \d+ events? so far\.$/);
  assert.match(await page.$eval("#plan .events li", (element) => element.textContent), /Bread of a browser/);
  // The same button stops it.
  await page.click(EXECUTE);
});

onPage("a conflict shows which condition failed", {}, async (page) => {
  await typeOperation(page, 'mutation { createGroup(id: "flat", name: "Again") { name } }');
  const { errors } = await run(page);
  assert.equal(errors[0].extensions.code, "CONFLICT");
  await page.waitForSelector("#plan .failed");
  const texts = (selector) => page.$$eval(selector, (elements) => elements.map((element) => element.textContent));
  assert.deepEqual(await texts("#plan .actions > .failed > strong"), ["put Group"]);
  assert.deepEqual(await texts("#plan .condition.failed"), ["if attribute_not_exists(PK)"]);
  assert.deepEqual(await texts("#plan .actions > .failed > .key-condition"), ['PK = "GROUP#flat" AND SK = "GROUP"']);
});

onPage("an operation that did not run has no plan", {}, async (page) => {
  await typeOperation(page, "{ me { name } }");
  await run(page);
  await page.waitForSelector("#plan .band");
  await typeOperation(page, "{ me { nothing } }");
  assert.ok((await run(page)).errors);
  await page.waitForSelector("#plan .refused");
  assert.equal(await page.$("#plan .band"), null);
  assert.match(await page.$eval("#plan", (element) => element.textContent), /did not run.*nothing/s);
});

onPage("the first screen has a named query that answers, and the operations of the API", {}, async (page) => {
  const query = await page.$eval(".graphiql-query-editor .CodeMirror", (element) => element.CodeMirror.getValue());
  assert.match(query, /^(#.*\n)?query [A-Z]\w*/);
  assert.match(await page.$eval("#caller-claims", (element) => element.textContent), /^sub \S+$/);
  await page.waitForSelector("#operations:not([hidden]) button");
  assert.deepEqual(await page.$eval("#operations section:first-of-type button strong", (element) => element.textContent), "me");
  const isNamed = (name) => page.waitForFunction((name) => [...document.querySelectorAll(".graphiql-tab")].some((tab) => tab.textContent.includes(name)), {}, name);
  await isNamed(query.match(/query (\w+)/)[1]);
  await (await page.waitForSelector("::-p-xpath(//*[@id='operations']//button[strong='group'])")).click();
  await isNamed("Group");
  const editors = () => page.$$eval(".graphiql-query-editor .CodeMirror, .graphiql-editor-tool .CodeMirror", (all) => all.map((one) => one.CodeMirror.getValue()));
  const [inserted, variables] = await editors();
  assert.match(inserted, /^query Group\(\$id: ID!\) \{\n {2}group\(id: \$id\) \{/);
  assert.deepEqual(JSON.parse(variables), { id: "" });
});

onPage("the caller decides what is seen", {}, async (page) => {
  await page.select("#caller", "2");
  await typeOperation(page, "{ memberships { role } }");
  assert.deepEqual((await run(page)).data, { memberships: [] });
  await page.select("#caller", "nobody");
  await focusEditor(page);
  assert.ok((await run(page)).errors);
});

onPage("a keyboard alone is enough", {}, async (page) => {
  const focused = () => page.evaluate(() => document.activeElement.id);
  for (const next of ["graphiql", "data", "design", "docs", "caller", "operations-switch", "plan-switch"]) {
    await page.keyboard.press("Tab");
    assert.equal(await focused(), next);
  }
  const isOpen = () => page.$eval("#plan", (element) => !element.hidden);
  const before = await isOpen();
  await page.keyboard.press("Enter");
  assert.equal(await isOpen(), !before);
  const isInEditor = () => page.evaluate(() => Boolean(document.activeElement.closest(".graphiql-query-editor .CodeMirror")));
  for (let steps = 0; !(await isInEditor()) && steps < 40; steps += 1) await page.keyboard.press("Tab");
  assert.ok(await isInEditor());
  assert.ok((await run(page)).data);
});

for (const scheme of ["light", "dark"]) {
  onPage(`a narrow ${scheme} page has no width to scroll`, { width: 360, height: 740, scheme }, async (page) => {
    await typeOperation(page, "{ me { name } }");
    await run(page);
    await fits(page);
    assert.deepEqual(await hindrances(page), []);
  });

  onPage(`nothing serious hinders anybody on the ${scheme} page`, { scheme }, async (page) => {
    await typeOperation(page, "{ me { name } memberships { role } }");
    await run(page);
    await page.waitForSelector("#plan section");
    assert.deepEqual(await hindrances(page), []);
    await page.click("#design");
    await page.waitForSelector(".document h2");
    assert.deepEqual(await hindrances(page), []);
  });
}

onPage("the design document leads to its chapters and fits a narrow page", { width: 360, height: 740 }, async (page) => {
  await page.click("#design");
  await page.waitForSelector(".document h2");
  const missing = await page.$$eval(".document a[href^='#']", (links) =>
    links.map((link) => link.getAttribute("href").slice(1)).filter((id) => !document.getElementById(id)));
  assert.deepEqual(missing, []);
  await fits(page);
});

onPage("the page goes on with a schema that has changed", {}, async (page) => {
  await typeOperation(page, "{ myself { name } }");
  assert.ok((await run(page)).errors);
  server().changeSchema((text) => text.replace("me: User @find", "myself: User @find(where: { id: \"{auth.sub}\" })\n  me: User @find"));
  const deadline = Date.now() + PATIENCE;
  let answer;
  do answer = await run(page); while (answer.errors && Date.now() < deadline);
  assert.deepEqual(answer.data, { myself: { name: "Aiko Tanaka" } });
});
