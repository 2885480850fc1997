// Three subgraphs, each in a thread of its own, and the gateway that joins them.

import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Worker } from 'node:worker_threads';
import { listening } from '../table.js';

const subgraph = async (name) => {
  const worker = new Worker(new URL('subgraph.js', import.meta.url), { workerData: name });
  const [{ url, schema }] = await once(worker, 'message');
  return { name, url, typeDefs: parse(schema) };
};
const services = await Promise.all(['users', 'products', 'reviews'].map(subgraph));
const { supergraphSdl, errors } = composeServices(services);
if (errors) throw new AggregateError(errors);

const gateway = createGatewayRuntime({ supergraph: supergraphSdl, logging: false });
const server = createServer(gateway).listen(0, '127.0.0.1');
await once(server, 'listening');
listening(server.address().port);
