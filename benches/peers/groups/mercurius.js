// Fastify with mercurius, its loaders and its compiler of queries, and ElectroDB.

import Fastify from 'fastify';
import mercurius from 'mercurius';
import { readFileSync } from 'node:fs';
import { listening } from '../table.js';
import { foodsInContainers, groupsOfUsers, loaders } from './reads.js';

const ids = (queries) => queries.map(({ obj }) => obj.id);
/** No object is asked for twice, so nothing is kept. */
const loader = (loader) => ({ loader, opts: { cache: false } });
/** A part of the contents of groups, which are read once for all of its parts. */
const contents = (part) =>
  loader(async (queries, { contentsOfGroups }) => (await contentsOfGroups.loadMany(ids(queries))).map((group) => group[part]));

const app = Fastify();
app.register(mercurius, {
  schema: readFileSync(new URL('schema.graphql', import.meta.url), 'utf8'),
  resolvers: { Query: { user: (_, { id }, { users }) => users.load(id) } },
  loaders: {
    User: { groups: loader((queries) => groupsOfUsers(ids(queries))) },
    Group: { users: contents('members'), containers: contents('containers') },
    Container: { foods: loader((queries) => foodsInContainers(ids(queries))) },
  },
  context: () => loaders(),
  jit: 1,
});
await app.listen({ host: '127.0.0.1', port: 0 });
listening(app.server.address().port);
