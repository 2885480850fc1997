// A mutation of the API and what is known of its arguments in; a form that sends it, with its answer and its plan, out.

import { argumentInputs } from "./argument_inputs.js";
import { make } from "./make.js";
import { showPlan, showRefused } from "./plan.js";
import { operationWith } from "./operations.js";

/**
 * Shows the form of a mutation in an element. `send` sends a request as the chosen caller, and gives the answer and who
 * called; `changed` is called when the mutation was made. Gives what reads the arguments as they stand.
 */
export function changeForm(element, { field, types, known, isDelete, warning, writes, send, changed }) {
  const { elements, read } = argumentInputs(field.args, types, known);
  const submit = make("button", { type: "submit", className: isDelete ? "delete" : "primary" }, field.name);
  const outcome = make("div", { className: "outcome", role: "status" });
  const plan = make("section", { className: "plan", ariaLabel: "Plan and cost of the change" });
  const form = make("form", { className: "change", ariaLabel: `Arguments of ${field.name}` }, elements, warning, submit);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const variables = read();
    const request = { query: operationWith("mutation", field, types, Object.keys(variables)), variables };
    try {
      const { answer, authorization } = await send(request);
      showOutcome(outcome, answer);
      const explained = answer.extensions?.keyfold;
      const fields = [{ path: [field.name], name: field.name, arguments: variables }];
      if (explained) showPlan(plan, { explained, data: answer.data, errors: answer.errors, request, authorization, writes, fields });
      else showRefused(plan, answer.errors ?? []);
      if (!answer.errors?.length) await changed();
    } catch (error) {
      outcome.replaceChildren(make("p", { className: "trouble" }, `The server does not answer: ${error.message}`));
    } finally {
      submit.disabled = false;
    }
  });
  element.replaceChildren(make("h3", { tabIndex: -1 }, field.name), field.description ? make("p", { className: "note" }, field.description.split("\n")[0]) : "", form, outcome, plan);
  element.querySelector("h3").focus();
  return read;
}

/** What the server says: that the change was made, or the error of each field, with its code. */
function showOutcome(element, { data, errors }) {
  const lines = (errors ?? []).map(({ message, extensions }) => make("p", { className: "trouble" }, extensions?.code ? make("strong", {}, `${extensions.code} `) : "", message));
  element.replaceChildren(...(lines.length ? lines : [make("p", { className: "made" }, "The change is made."), make("pre", {}, JSON.stringify(data, null, 2))]));
}
