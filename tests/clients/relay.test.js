// Relay: its compiler takes the schema that the server introspects, and the queries that it makes for refetchable fragments run.

import { buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import compiler from 'relay-compiler';
import relay from 'relay-runtime';
import { recorded, url } from './server.js';

/** A component's source: a query, a refetchable fragment on a type, and one that pages through a connection. */
const SOURCE = `
graphql\`
  query ShelfQuery($name: String!) {
    shelf(name: $name) { id ...Shelf_shelf ...Shelf_books }
  }
\`;
graphql\`
  fragment Shelf_shelf on Shelf @refetchable(queryName: "ShelfRefetchQuery") { room }
\`;
graphql\`
  fragment Shelf_books on Shelf
  @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" })
  @refetchable(queryName: "ShelfPaginationQuery") {
    books(first: $first, after: $after) @connection(key: "Shelf_books") { edges { node { id title } } }
  }
\`;
`;

/** The answer to a request, as Relay's network wants it. */
async function ask(fetch, body) {
  const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

/** Compiles the source against the server's schema in a directory, and gives what loads its artifacts. */
async function compiled(directory) {
  const { data } = await ask(globalThis.fetch, { query: getIntrospectionQuery() });
  mkdirSync(join(directory, 'src'));
  mkdirSync(join(directory, 'made'));
  const places = { src: './src', schema: './schema.graphql', artifactDirectory: './made' };
  // Bundlers resolve names without an ending. Of modules, Node does so with `require` only.
  const config = { ...places, language: 'javascript', eagerEsModules: false };
  const files = { 'schema.graphql': printSchema(buildClientSchema(data)), 'src/Shelf.js': SOURCE, 'relay.config.json': JSON.stringify(config) };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  execFileSync(compiler, ['relay.config.json'], { cwd: directory, encoding: 'utf8', timeout: 60_000 });
  const load = createRequire(join(directory, 'made', 'x.js'));
  return (name) => load(`./${name}.graphql.js`);
}

describe('Relay', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keyfold-relay-'));
  after(() => rmSync(directory, { recursive: true }));
  let artifact;
  before(async () => {
    artifact = await compiled(directory);
  });

  /** A store with a network whose requests are recorded, what runs a query, and what reads a fragment of its result. */
  function environment() {
    const { calls, fetch } = recorded();
    const network = relay.Network.create(({ text }, variables) => ask(fetch, { query: text, variables }));
    const store = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
    const run = (name, variables) => relay.fetchQuery(store, artifact(name), variables).toPromise();
    const read = (name, object) => store.lookup(relay.getSingularSelector(artifact(name), object)).data;
    return { calls, run, read };
  }

  it('fetches an object of a fragment again by its id', async () => {
    const { calls, run, read } = environment();
    const { shelf } = await run('ShelfQuery', { name: 'a:b' });
    const { node } = await run('ShelfRefetchQuery', { id: shelf.id });
    assert.match(JSON.parse(calls[1].body).query, /node\(id: \$id\)/);
    assert.deepEqual(read('Shelf_shelf', node), { room: 'Attic', id: shelf.id });
  });

  it('pages through the connection of a fragment', async () => {
    const { run, read } = environment();
    const { shelf } = await run('ShelfQuery', { name: 'a:b' });
    const titles = ({ books }) => books.edges.map(({ node }) => node.title);
    const first = read('Shelf_books', shelf);
    assert.deepEqual([titles(first), first.books.pageInfo.hasNextPage], [['Book 1', 'Book 2'], true]);
    const { node } = await run('ShelfPaginationQuery', { id: shelf.id, first: 2, after: first.books.pageInfo.endCursor });
    const both = read('Shelf_books', node);
    assert.deepEqual([titles(both), both.books.pageInfo.hasNextPage], [['Book 1', 'Book 2', 'Book 3'], false]);
  });

  it('gets null for an id of nothing', async () => {
    const { node } = await environment().run('ShelfRefetchQuery', { id: 'nothing' });
    assert.equal(node, null);
  });
});
