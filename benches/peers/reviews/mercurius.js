// Fastify with mercurius, its loaders and its compiler of queries, and ElectroDB.

import Fastify from 'fastify';
import mercurius from 'mercurius';
import { readFileSync } from 'node:fs';
import { listening } from '../table.js';
import { reads } from './reads.js';

/** The request's own loaders keep what they have read, whichever field asks, so a field's need not. */
const loader = (load) => ({
  loader: (queries, context) => Promise.all(queries.map(({ obj }) => load(obj, context))),
  opts: { cache: false },
});

const app = Fastify();
app.register(mercurius, {
  schema: readFileSync(new URL('schema.graphql', import.meta.url), 'utf8'),
  resolvers: {
    Query: {
      users: (_, __, { allUsers }) => allUsers(),
      topProducts: (_, __, { topProducts }) => topProducts(),
    },
  },
  loaders: {
    User: { reviews: loader(({ id }, { reviewsOfUser }) => reviewsOfUser(id)) },
    Review: {
      author: loader(({ authorId }, { users }) => users.load(authorId)),
      product: loader(({ upc }, { products }) => products.load(upc)),
    },
    Product: { reviews: loader(({ upc }, { reviewsOfProducts }) => reviewsOfProducts.load(upc)) },
  },
  context: () => reads(),
  jit: 1,
});
await app.listen({ host: '127.0.0.1', port: 0 });
listening(app.server.address().port);
