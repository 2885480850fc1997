// Apollo Server with DataLoader and ElectroDB.

import { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import Fastify from 'fastify';
import { readFileSync } from 'node:fs';
import { listening } from '../table.js';
import { loaders } from './reads.js';

const typeDefs = readFileSync(new URL('schema.graphql', import.meta.url), 'utf8');
const resolvers = {
  Query: { user: (_, { id }, { users }) => users.load(id) },
  User: { groups: ({ id }, _, { groupsOfUsers }) => groupsOfUsers.load(id) },
  Group: {
    users: async ({ id }, _, { contentsOfGroups }) => (await contentsOfGroups.load(id)).members,
    containers: async ({ id }, _, { contentsOfGroups }) => (await contentsOfGroups.load(id)).containers,
  },
  Container: { foods: ({ id }, _, { foodsInContainers }) => foodsInContainers.load(id) },
};

const server = new ApolloServer({ typeDefs, resolvers });
await server.start();
const app = Fastify();
app.post('/graphql', fastifyApolloHandler(server, { context: async () => loaders() }));
await app.listen({ host: '127.0.0.1', port: 0 });
listening(app.server.address().port);
