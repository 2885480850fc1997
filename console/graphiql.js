// GraphiQL, which the page has loaded.

/** Puts GraphiQL into an element. */
export function graphiql(element, { address, authorization, fetch, startingTexts, operation }) {
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
    fetcher,
    // Beside the tabs that the browser keeps, a wanted operation has a tab of its own.
    query: operation,
    defaultTabs: startingTexts.map((query) => ({ query })),
    defaultEditorToolsVisibility: true,
    // A token in the headers survives a reload of the page, and ends with its tab.
    shouldPersistHeaders: false,
  };
  window.ReactDOM.createRoot(element).render(window.React.createElement(window.GraphiQL, settings));
}
