// GraphiQL, which the page has loaded.

/** Where the browser keeps the tabs of GraphiQL. */
const TABS = "graphiql:tabState";

/** Puts GraphiQL into an element. */
export function graphiql(element, { address, authorization, fetch, observed, startingTexts, isWanted }) {
  const socket = address("graphql/ws");
  socket.protocol = socket.protocol === "https:" ? "wss:" : "ws:";
  const fetcher = window.GraphiQL.createFetcher({
    url: address("graphql").href,
    subscriptionUrl: socket.href,
    // Read again for each subscription: the caller may be another one.
    wsConnectionParams: {
      get Authorization() {
        return authorization();
      },
    },
    fetch,
  });
  const settings = {
    fetcher: async (asked, options) => {
      const request = withKnownName(asked);
      return observed(request, await fetcher(request, options));
    },
    // Beside the tabs that the browser keeps, a wanted operation has a tab of its own.
    // The variables of the first of new tabs are not read from there.
    ...(isWanted || !localStorage.getItem(TABS) ? startingTexts[0] : {}),
    defaultTabs: startingTexts,
    defaultEditorToolsVisibility: true,
    // A token in the headers survives a reload of the page, and ends with its tab.
    shouldPersistHeaders: false,
  };
  window.ReactDOM.createRoot(element).render(window.React.createElement(window.GraphiQL, settings));
}

/** A request without the name of an operation that its text does not have: GraphiQL looks at a changed text a moment later. */
function withKnownName(request) {
  const { parse } = window.GraphiQL.GraphQL;
  const { operationName, ...rest } = request;
  try {
    const isKnown = parse(request.query).definitions.some(({ name, kind }) => kind === "OperationDefinition" && name?.value === operationName);
    return isKnown ? request : rest;
  } catch {
    return request;
  }
}

/** Reads the schema of the API again, as GraphiQL's button does. */
export function readSchemaAgain() {
  document.querySelector(".graphiql-container [aria-label='Re-fetch GraphQL schema']")?.click();
}

/** Puts an operation with its variables into a new tab. */
export async function insertOperation({ query, variables }) {
  document.querySelector(".graphiql-tab-add")?.click();
  // The tab is there with the next picture, and its editors are empty.
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  const editor = (selector) => document.querySelector(`${selector} .CodeMirror`)?.CodeMirror;
  editor(".graphiql-query-editor")?.setValue(query);
  editor("[aria-label='Variables'] ")?.setValue(variables ?? "");
  editor(".graphiql-query-editor")?.focus();
}
