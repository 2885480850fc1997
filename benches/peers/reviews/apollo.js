// Apollo Server with DataLoader and ElectroDB.

import { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import Fastify from 'fastify';
import { readFileSync } from 'node:fs';
import { listening } from '../table.js';
import { reads } from './reads.js';

const typeDefs = readFileSync(new URL('schema.graphql', import.meta.url), 'utf8');
const resolvers = {
  Query: {
    users: (_, __, { allUsers }) => allUsers(),
    topProducts: (_, __, { topProducts }) => topProducts(),
  },
  User: { reviews: ({ id }, _, { reviewsOfUser }) => reviewsOfUser(id) },
  Review: {
    author: ({ authorId }, _, { users }) => users.load(authorId),
    product: ({ upc }, _, { products }) => products.load(upc),
  },
  Product: { reviews: ({ upc }, _, { reviewsOfProducts }) => reviewsOfProducts.load(upc) },
};

const server = new ApolloServer({ typeDefs, resolvers });
await server.start();
const app = Fastify();
app.post('/graphql', fastifyApolloHandler(server, { context: async () => reads() }));
await app.listen({ host: '127.0.0.1', port: 0 });
listening(app.server.address().port);
