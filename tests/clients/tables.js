// Tables on a server of DynamoDB's API, which libraries fill by themselves, and `keyfold serve` on these tables.

import { CreateTableCommand, DynamoDBClient, ScanCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Whatever moto takes: it knows no users. */
const caller = { AWS_ACCESS_KEY_ID: 'tests', AWS_SECRET_ACCESS_KEY: 'tests', AWS_REGION: 'eu-central-1' };

/** What runs until `stop`. */
const running = [];

/** Ends what `tables` and `serve` have started. */
export async function stop() {
  for (const end of running.splice(0).reverse()) await end();
}

/** Starts a program, and gives what the pattern finds first in its lines. */
async function started(command, args, pattern, environment = {}) {
  const options = { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...environment } };
  const program = spawn(command, args, options);
  const ended = once(program, 'exit');
  running.push(async () => {
    program.kill();
    await ended;
  });
  const lines = [];
  const found = new Promise((resolve, reject) => {
    for (const stream of [program.stdout, program.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        const match = line.match(pattern);
        if (match) resolve(match[1]);
      });
    }
    program.once('error', reject);
    const failed = (why) => reject(new Error(`${command} ${why}:\n${lines.join('\n')}`));
    program.once('exit', () => failed('ended'));
    setTimeout(failed, 60_000, 'did not start within a minute').unref();
  });
  return found;
}

/** A server of tables: its address, and a client of the AWS SDK. */
export async function tables() {
  const script = fileURLToPath(new URL('server.py', import.meta.url));
  const endpoint = `http://127.0.0.1:${await started(process.env.KEYFOLD_SECOND_STORE, [script], /^port (\d+)$/)}`;
  const credentials = { accessKeyId: caller.AWS_ACCESS_KEY_ID, secretAccessKey: caller.AWS_SECRET_ACCESS_KEY };
  const client = new DynamoDBClient({ endpoint, region: caller.AWS_REGION, credentials });
  running.push(() => client.destroy());
  return { client, endpoint };
}

/**
 * Creates a table with the keys `pk` and `sk`, and an index with the keys `<keys>pk` and `<keys>sk` for each `keys` of `indexes`,
 * which `named` gives its name. Items expire at the time in the attribute that `expires` names.
 */
export async function createTable(client, TableName, { indexes = [], named = (keys) => keys, expires } = {}) {
  const keys = (name) => [
    { AttributeName: `${name}pk`, KeyType: 'HASH' },
    { AttributeName: `${name}sk`, KeyType: 'RANGE' },
  ];
  const all = ['', ...indexes].flatMap(keys);
  const GlobalSecondaryIndexes = indexes.map((name) => ({
    IndexName: named(name),
    KeySchema: keys(name),
    Projection: { ProjectionType: 'ALL' },
  }));
  await client.send(
    new CreateTableCommand({
      TableName,
      KeySchema: keys(''),
      AttributeDefinitions: all.map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' })),
      BillingMode: 'PAY_PER_REQUEST',
      ...(indexes.length ? { GlobalSecondaryIndexes } : {}),
    }),
  );
  if (expires) {
    const TimeToLiveSpecification = { AttributeName: expires, Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
}

/** All items of a table as DynamoDB has them, in the order of their keys. */
export async function items(client, TableName) {
  const { Items, LastEvaluatedKey } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  assert.equal(LastEvaluatedKey, undefined);
  const key = ({ pk, sk }) => `${pk.S}\n${sk.S}`;
  return Items.sort((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** Serves the tables by a schema of this folder. Gives a function that runs an operation and returns its data. */
export async function serve(schema, endpoint) {
  const file = fileURLToPath(new URL(schema, import.meta.url));
  const options = ['serve', '--schema', file, '--listen', '127.0.0.1:0', '--endpoint-url', endpoint];
  const address = await started(process.env.KEYFOLD_BINARY, options, /serving address=(\S+)/, caller);
  return async (query, variables = {}) => {
    const body = JSON.stringify({ query, variables });
    const headers = { 'content-type': 'application/json' };
    const { data, errors } = await (await fetch(`http://${address}/graphql`, { method: 'POST', headers, body })).json();
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data;
  };
}
