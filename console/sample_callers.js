// Who calls: one of the sample callers, somebody with a token, or nobody.

import { claimsOf } from "./key_values.js";
import { make } from "./make.js";

/** The choice of this tab, which a reload keeps. */
const KEY = "keyfold:caller";

/**
 * Puts the choice of a caller into an element. Gives the `Authorization` of the caller, or nothing (`authorization`); the
 * sample callers with their claims (`samples`); and `choose`, which chooses one of them. `changed` is called after each choice.
 */
export async function callerChoice(element, { address, hasSamples, changed = () => {} }) {
  const samples = hasSamples ? await sampleCallers(address) : [];
  const choice = make("select", { id: "caller" },
    samples.map(({ name }, position) => make("option", { value: `${position}` }, name)),
    make("option", { value: "token" }, "With a token"),
    make("option", { value: "nobody" }, "Nobody"));
  const token = make("input", { type: "password", autocomplete: "off", placeholder: "Token", ariaLabel: "Token", spellcheck: false });

  const before = sessionStorage.getItem(KEY);
  const known = [...choice.options].some((option) => option.value === before);
  choice.value = known ? before : samples.length ? "0" : "nobody";
  const claims = make("span", { id: "caller-claims", className: "where" });
  const current = () => (choice.value === "token" ? token.value.trim() : samples[Number(choice.value)]?.token);
  const show = () => {
    token.hidden = choice.value !== "token";
    const { sub } = claimsOf(current() ?? "");
    claims.textContent = current() ? (sub ? `sub ${sub}` : "no sub") : "no token";
    claims.title = sub ?? "";
  };
  token.addEventListener("change", changed);
  token.addEventListener("input", show);
  choice.addEventListener("change", () => {
    sessionStorage.setItem(KEY, choice.value);
    show();
    changed();
    if (!token.hidden) token.focus();
  });
  show();
  element.append(make("label", { htmlFor: "caller" }, "Caller"), choice, token, claims);

  return {
    authorization: () => (current() ? `Bearer ${current()}` : undefined),
    samples: samples.map(({ name, token }, position) => ({ name, position, claims: claimsOf(token) })),
    choose: ({ position }) => {
      choice.value = `${position}`;
      choice.dispatchEvent(new Event("change"));
    },
  };
}

/** The sample callers with their tokens, which `keyfold dev` gives. */
async function sampleCallers(address) {
  try {
    const response = await fetch(address("dev/callers").href);
    return response.ok ? await response.json() : [];
  } catch {
    return [];
  }
}
