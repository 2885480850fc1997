// The server's address, operations for its schema, and `fetch` over HTTP/2 without TLS, which Node's own does not speak.

import http2 from 'node:http2';
import { Readable } from 'node:stream';

export const base = process.env.KEYFOLD_URL;
export const url = `${base}/graphql`;
export const socketUrl = `${base.replace('http', 'ws')}/graphql/ws`;

export const NOTE = 'query Note($id: ID!) { note(id: $id) { id text } }';
export const ADD_NOTE = 'mutation AddNote($id: ID!, $text: String!) { addNote(id: $id, text: $text) { id text } }';
export const WATCH_NOTE = 'subscription WatchNote($id: ID!) { note(id: $id) { text } }';
export const WRONG = 'query Wrong { nothing }';

/** `fetch` that records each request and each response. */
export function recorded(fetch = globalThis.fetch) {
  const calls = [];
  const recording = async (input, init = {}) => {
    const response = await fetch(input, init);
    calls.push({ method: init.method ?? 'GET', url: String(input), body: init.body, response });
    return response;
  };
  return { calls, fetch: recording };
}

/** `fetch` over one HTTP/2 connection, and its end. */
export function overHttp2() {
  const session = http2.connect(base);
  const fetch = async (input, init = {}) => {
    const { pathname, search } = new URL(input);
    const headers = Object.fromEntries(new Headers(init.headers));
    const stream = session.request({ ':method': init.method ?? 'GET', ':path': pathname + search, ...headers });
    stream.end(init.body ?? undefined);
    init.signal?.addEventListener('abort', () => stream.close(http2.constants.NGHTTP2_CANCEL));
    const head = await new Promise((resolve, reject) => stream.once('response', resolve).once('error', reject));
    const fields = Object.entries(head).filter(([name]) => !name.startsWith(':'));
    const status = head[':status'];
    return new Response([204, 304].includes(status) ? null : Readable.toWeb(stream), { status, headers: fields });
  };
  return { fetch, close: () => session.close() };
}
