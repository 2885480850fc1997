// The events of a subscription in; out, a view that says that it runs, with the events as a list.

import { counted, make } from "./make.js";

/** Most events in the list, and most characters of each. */
const KEPT = 100;
const LONGEST = 160;

/** Shows in an element that a subscription runs. `add` shows an event, `end` that it has ended. */
export function eventView(element) {
  const state = make(
    "p",
    { className: "running", role: "status" },
    "The subscription runs. It waits for its first event.",
  );
  const list = make("ol", { className: "events" });
  let count = 0;
  element.replaceChildren(make("h2", {}, "Events"), state, list);
  return {
    add({ data, errors }) {
      count += 1;
      state.textContent = `The subscription runs. ${counted(count, "event")} so far.`;
      const text = JSON.stringify(errors ? errors.map(({ message }) => message) : data);
      const time = new Date().toLocaleTimeString("en-GB");
      list.prepend(
        make(
          "li",
          { className: errors ? "refused" : "" },
          make("span", { className: "where" }, `${time} `),
          make("code", {}, text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text),
        ),
      );
      if (list.children.length > KEPT) list.lastChild.remove();
    },
    end() {
      state.className = "note";
      state.textContent = `The subscription has ended after ${counted(count, "event")}.`;
    },
  };
}

/** The same results, while a view shows them. */
export async function* withEvents(results, view) {
  try {
    for await (const result of results) {
      view.add(result);
      yield result;
    }
  } finally {
    view.end();
  }
}
