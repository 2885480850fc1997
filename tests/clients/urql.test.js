// urql: over HTTP, by GET, and its operations over a WebSocket.

import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient as createSocketClient } from 'graphql-ws';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import WebSocket from 'ws';
import { ADD_NOTE, NOTE, recorded, socketUrl, url, WRONG } from './server.js';

/** Asks for a note, adds one, and asks for what is wrong. */
async function works(client, id) {
  const { data, error } = await client.query(NOTE, { id: '1' }).toPromise();
  assert.equal(data?.note?.text, 'Buy rice', error?.message);
  const added = await client.mutation(ADD_NOTE, { id, text: 'A text' }).toPromise();
  assert.equal(added.data?.addNote?.id, id, added.error?.message);
  const wrong = await client.query(WRONG, {}).toPromise();
  assert.equal(wrong.error?.graphQLErrors[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
}

describe('urql', () => {
  for (const preferGetMethod of [false, 'force']) {
    it(`runs operations over HTTP, queries by ${preferGetMethod ? 'GET' : 'POST'}`, async () => {
      const { calls, fetch } = recorded();
      await works(new Client({ url, fetch, preferGetMethod, exchanges: [fetchExchange] }), `urql-${preferGetMethod}`);
      assert.equal(calls[0].method, preferGetMethod ? 'GET' : 'POST');
    });
  }

  it('runs operations over a WebSocket', async () => {
    const socket = createSocketClient({ url: socketUrl, webSocketImpl: WebSocket, lazy: false });
    const forwardSubscription = ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
    });
    const exchange = subscriptionExchange({ enableAllOperations: true, forwardSubscription });
    await works(new Client({ url, exchanges: [exchange] }), 'urql-socket');
    await socket.dispose();
  });
});
