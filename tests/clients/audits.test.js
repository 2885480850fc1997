// All audits of graphql-http, over HTTP/1.1 and HTTP/2: what GraphQL over HTTP requires, recommends and allows.

import { serverAudits } from 'graphql-http';
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { overHttp2, url } from './server.js';

const second = overHttp2();
after(() => second.close());

for (const [name, fetchFn] of [['HTTP/1.1', fetch], ['HTTP/2', second.fetch]]) {
  describe(`graphql-http over ${name}`, () => {
    const audits = serverAudits({ url, fetchFn });
    it('has as many audits as ever', () => assert.equal(audits.length, 61));
    for (const audit of audits) {
      it(audit.name, async () => {
        const { status, reason } = await audit.fn();
        assert.equal(status, 'ok', reason);
      });
    }
  });
}
