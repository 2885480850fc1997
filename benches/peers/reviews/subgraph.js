// A subgraph of the federation: mercurius with ElectroDB, on a port of its own. Each key is read once a request.

import mercuriusWithFederation from '@mercuriusjs/federation';
import Fastify from 'fastify';
import { parentPort, workerData } from 'node:worker_threads';
import { reads } from './reads.js';

const subgraphs = {
  users: {
    schema: `
      extend type Query { users: [User!]! }
      type User @key(fields: "id") { id: ID! username: String! name: String! }`,
    resolvers: {
      Query: { users: (_, __, { allUsers }) => allUsers() },
      User: { __resolveReference: ({ id }, _, { users }) => users.load(id) },
    },
  },
  products: {
    schema: `
      extend type Query { topProducts: [Product!]! }
      type Product @key(fields: "upc") {
        upc: ID! name: String! price: Int! weight: Int! inStock: Boolean! shippingEstimate: Int
      }`,
    resolvers: {
      Query: { topProducts: (_, __, { topProducts }) => topProducts() },
      Product: { __resolveReference: ({ upc }, _, { products }) => products.load(upc) },
    },
  },
  reviews: {
    schema: `
      type Review { id: ID! body: String! author: User! product: Product! }
      extend type User @key(fields: "id") { id: ID! @external reviews: [Review!]! }
      extend type Product @key(fields: "upc") { upc: ID! @external reviews: [Review!]! }`,
    resolvers: {
      Review: {
        author: ({ authorId }) => ({ __typename: 'User', id: authorId }),
        product: ({ upc }) => ({ __typename: 'Product', upc }),
      },
      User: { reviews: ({ id }, _, { reviewsOfUser }) => reviewsOfUser(id) },
      Product: { reviews: ({ upc }, _, { reviewsOfProducts }) => reviewsOfProducts.load(upc) },
    },
  },
};

const { schema, resolvers } = subgraphs[workerData];
const app = Fastify();
app.register(mercuriusWithFederation, { schema, resolvers, context: () => reads(), jit: 1 });
await app.listen({ host: '127.0.0.1', port: 0 });
parentPort.postMessage({ url: `http://127.0.0.1:${app.server.address().port}/graphql`, schema });
