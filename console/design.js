// The page `/design`: the server's document in; out, the same with a side navigation, folded sections and diagrams.

import { entityDiagram, keyDiagram } from "./diagrams.js";
import { make } from "./make.js";
import { followSchema } from "./schema_news.js";
import { readModel } from "./design_model.js";

/** From so many rows on, the table of a chapter is folded. */
const LONG = 15;

const main = document.querySelector(".document");

wholeWords();
const chapters = fold();
document.getElementById("contents").append(...navigation(chapters));
window.addEventListener("hashchange", openTarget);
openTarget();
followSchema({ changed: () => location.reload() });
await addDiagrams();

/** Keeps words of cells whole, also where they hold signs at which a browser may end a line. */
function wholeWords() {
  const cells = document.querySelectorAll(".document td, .document th");
  for (const cell of cells) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts.filter(({ data }) => /\S[^\w\s]\S/.test(data))) {
      text.replaceWith(
        ...text.data
          .split(/(\s+)/)
          .map((part) => (/[^\w\s]/.test(part) ? make("span", { className: "word" }, part) : part)),
      );
    }
  }
}

/** Puts what follows each heading of the third level behind a switch. Gives the chapters with their sections. */
function fold() {
  const chapters = [];
  let section = null;
  for (const element of [...main.children]) {
    if (element.matches("h1, h2")) {
      section = null;
      if (element.matches("h2")) chapters.push({ heading: element, sections: [] });
    } else if (element.matches("h3")) {
      section = make("details", { className: "section" });
      element.before(section);
      section.append(make("summary", {}, element));
      chapters.at(-1)?.sections.push(element);
    } else if (section) {
      section.append(element);
    } else if (element.querySelectorAll("tbody tr").length > LONG) {
      const long = make("details", { className: "section" });
      element.before(long);
      long.append(
        make("summary", {}, make("strong", {}, `All ${element.querySelectorAll("tbody tr").length} in one table`)),
        element,
      );
    }
  }
  return chapters;
}

/** A list of links to the chapters, and behind a switch to the sections of each. */
function navigation(chapters) {
  const link = (heading) => make("a", { href: `#${heading.id}` }, heading.textContent);
  return chapters.map(({ heading, sections }, at) =>
    make(
      "details",
      { open: at < 2 && sections.length <= LONG && window.matchMedia("(min-width: 60rem)").matches },
      make(
        "summary",
        {},
        heading.textContent,
        sections.length ? make("span", { className: "where" }, ` ${sections.length}`) : null,
      ),
      make(
        "ul",
        {},
        make("li", {}, make("a", { href: `#${heading.id}` }, "Overview")),
        sections.map((section) => make("li", {}, link(section))),
      ),
    ),
  );
}

/** Opens the section that the fragment leads to. */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = target?.closest("details.section");
  if (section) section.open = true;
  target?.scrollIntoView();
}

/** Draws the types with their relations above their chapter, and the collections of each table in its section. */
async function addDiagrams() {
  const { tables, types } = await readModel();
  const place = document.getElementById("item-types");
  if (types.length) place?.after(figure(entityDiagram(types), "The item types and their relations"));
  const drawings = tables.filter(({ types }) => types.length).map((table) => [table, keyDiagram(table)]);
  const at = document.getElementById("tables");
  at?.after(
    ...drawings.map(([{ name }, drawing]) => figure(drawing, `The item collections of ${name} and of its indexes`)),
  );
}

function figure(drawing, caption) {
  return make(
    "figure",
    {},
    make("div", { className: "wide", tabIndex: 0, role: "region", ariaLabel: caption }, drawing),
    make("figcaption", { className: "note" }, caption),
  );
}
