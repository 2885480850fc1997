// Apollo Client: persisted queries by POST and GET, lists of operations, WebSockets and events.

import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache, Observable } from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { print } from 'graphql';
import { createClient as createEventClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import WebSocket from 'ws';
import { ADD_NOTE, NOTE, recorded, socketUrl, url, WATCH_NOTE, WRONG } from './server.js';

// Apollo's link looks for the browser's own, which Node has from version 22 on.
globalThis.WebSocket ??= WebSocket;

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const client = (link) => new ApolloClient({ link, cache: new InMemoryCache() });

/** Asks for a note, adds one, and asks for what is wrong. */
async function works(client, id) {
  const { data } = await client.query({ query: gql(NOTE), variables: { id: '1' } });
  assert.equal(data.note.text, 'Buy rice');
  const added = await client.mutate({ mutation: gql(ADD_NOTE), variables: { id, text: 'A text' } });
  assert.equal(added.data.addNote.id, id);
  await assert.rejects(client.query({ query: gql(WRONG) }), /nothing/);
}

/** Hears that there is no note, and then of the note that is added. */
async function hears(client, id) {
  const texts = [];
  await new Promise((resolve, reject) => {
    const subscription = client.subscribe({ query: gql(WATCH_NOTE), variables: { id } }).subscribe({
      next: ({ data }) => {
        texts.push(data.note?.text);
        if (texts.length === 1) client.mutate({ mutation: gql(ADD_NOTE), variables: { id, text: 'A text' } }).catch(reject);
        if (texts.length < 2) return;
        subscription.unsubscribe();
        resolve();
      },
      error: reject,
    });
  });
  assert.deepEqual(texts, [undefined, 'A text']);
}

describe('Apollo Client', () => {
  it('runs operations over HTTP', () => works(client(new HttpLink({ uri: url })), 'apollo-http'));

  for (const useGETForHashedQueries of [false, true]) {
    it(`persists queries by ${useGETForHashedQueries ? 'GET' : 'POST'}`, async () => {
      const { calls, fetch } = recorded();
      const link = () => new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(new HttpLink({ uri: url, fetch }));
      // Its own name makes the document new for each case.
      const query = gql(NOTE.replace('Note(', `Persisted${useGETForHashedQueries}(`));
      for (const expected of [2, 1]) {
        calls.length = 0;
        const { data } = await client(link()).query({ query, variables: { id: '1' } });
        assert.equal(data.note.text, 'Buy rice');
        assert.equal(calls.length, expected, 'the document is sent only if the server does not know it');
        assert.equal(calls[0].method, useGETForHashedQueries ? 'GET' : 'POST');
        assert.ok(!`${calls[0].url}${calls[0].body}`.includes('note('));
      }
      await works(client(link()), `apollo-persisted-${useGETForHashedQueries}`);
    });
  }

  it('sends operations as one list', async () => {
    const { calls, fetch } = recorded();
    const batched = client(new BatchHttpLink({ uri: url, fetch, batchMax: 5, batchInterval: 20 }));
    const ask = (id) => batched.query({ query: gql(NOTE), variables: { id }, context: { queryDeduplication: false } });
    const [first, second, none] = await Promise.all(['1', '2', '3'].map(ask));
    assert.equal(calls.length, 1);
    assert.equal(first.data.note.text, 'Buy rice');
    assert.ok(second.data.note.text.startsWith('Water'));
    assert.equal(none.data.note, null);
  });

  it('runs operations over a WebSocket', async () => {
    const socket = createSocketClient({ url: socketUrl, webSocketImpl: WebSocket, lazy: false });
    await works(client(new GraphQLWsLink(socket)), 'apollo-socket');
    await hears(client(new GraphQLWsLink(socket)), 'apollo-socket-heard');
    await socket.dispose();
  });

  it('runs operations by events', async () => {
    const events = createEventClient({ url, retryAttempts: 0 });
    const link = new ApolloLink(({ query, operationName, variables }) => {
      return new Observable((sink) => events.subscribe({ query: print(query), operationName, variables }, sink));
    });
    await works(client(link), 'apollo-events');
    await hears(client(link), 'apollo-events-heard');
    events.dispose();
  });
});
