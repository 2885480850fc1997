// The connection to the table, which all of these servers share.

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Its connections stay open, and there are enough for the busiest measurement. */
export const client = new DynamoDBClient({
  endpoint: process.env.DYNAMODB_ENDPOINT,
  region: 'us-east-1',
  credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  requestHandler: { httpAgent: { keepAlive: true, maxSockets: 512 } },
});

/** A part of a key: a template over attributes, whose text is stored as it is. */
export const key = (field, composite, template) => ({ field, composite, template, casing: 'none' });

/** Says where the server listens. */
export const listening = (port) => console.log(`127.0.0.1:${port}`);
