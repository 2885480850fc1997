// graphql-ws and graphql-sse by themselves, and the codings that Node's own client asks for.

import { createClient as createEventClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import WebSocket from 'ws';
import { ADD_NOTE, NOTE, overHttp2, socketUrl, url, WATCH_NOTE, WRONG } from './server.js';

/** All that a client hears of an operation. */
const heard = (client, payload) =>
  new Promise((resolve) => {
    const results = [];
    client.subscribe(payload, {
      next: (result) => results.push(result),
      error: (error) => resolve({ results, error }),
      complete: () => resolve({ results }),
    });
  });

/** Asks for a note, and adds one. */
async function works(client, id) {
  const asked = await heard(client, { query: NOTE, variables: { id: '1' } });
  assert.deepEqual(asked.results.map((result) => result.data.note.text), ['Buy rice']);
  assert.equal(asked.error, undefined);
  const added = await heard(client, { query: ADD_NOTE, variables: { id, text: 'A text' } });
  assert.deepEqual(added.results.map((result) => result.data.addNote.id), [id]);
}

/** Hears that there is no note, and then of the note that is added. */
async function hears(client, id) {
  const texts = [];
  await new Promise((resolve, reject) => {
    const end = client.subscribe({ query: WATCH_NOTE, variables: { id } }, {
      next: ({ data }) => {
        texts.push(data.note?.text);
        if (texts.length === 1) heard(client, { query: ADD_NOTE, variables: { id, text: 'A text' } });
        if (texts.length === 2) end();
      },
      error: reject,
      complete: resolve,
    });
  });
  assert.deepEqual(texts, [undefined, 'A text']);
}

describe('graphql-ws', () => {
  it('runs operations', async () => {
    const client = createSocketClient({ url: socketUrl, webSocketImpl: WebSocket, lazy: false });
    await works(client, 'ws');
    const wrong = await heard(client, { query: WRONG });
    assert.equal(wrong.error[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
    await hears(client, 'heard-ws');
    await client.dispose();
  });
});

describe('graphql-sse', () => {
  const second = overHttp2();
  for (const [name, fetchFn] of [['HTTP/1.1', fetch], ['HTTP/2', second.fetch]]) {
    it(`runs operations over ${name}`, async () => {
      const client = createEventClient({ url, fetchFn, retryAttempts: 0 });
      await works(client, `events-${name}`);
      const wrong = await heard(client, { query: WRONG });
      assert.equal(wrong.error, undefined);
      assert.equal(wrong.results[0].errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
      await hears(client, `heard-${name}`);
      client.dispose();
    });
  }
  it('closes its connection', () => second.close());
});

describe('fetch', () => {
  for (const coding of ['gzip', 'br']) {
    it(`unpacks ${coding}`, async () => {
      const headers = { 'content-type': 'application/json', 'accept-encoding': coding };
      const body = JSON.stringify({ query: NOTE, variables: { id: '2' } });
      const response = await fetch(url, { method: 'POST', headers, body });
      assert.equal(response.headers.get('content-encoding'), coding);
      assert.ok((await response.json()).data.note.text.startsWith('Water'));
    });
  }
});
