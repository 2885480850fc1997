// GraphQL Yoga with Pothos, its plug-in for DataLoader, and ElectroDB.

import SchemaBuilder from '@pothos/core';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import { createYoga } from 'graphql-yoga';
import { createServer } from 'node:http';
import { listening } from '../table.js';
import { foodsInContainers, groupsOfUsers, loaders, users } from './reads.js';

const builder = new SchemaBuilder({ plugins: [DataloaderPlugin], defaultFieldNullability: false });
builder.scalarType('DateTime', { serialize: (text) => text });

const named = (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') });
const object = (name, fields) => builder.objectRef(name).implement({ fields: (t) => ({ ...named(t), ...fields(t) }) });
/** A list of an object, which one function reads for all objects of a level. */
const list = (t, type, load) => t.loadableList({ type, load, resolve: ({ id }) => id });
/** A part of a group's contents, which are read once for all of its parts. */
const contents = (t, type, part) =>
  t.field({ type: [type], resolve: async ({ id }, _, context) => (await context.contentsOfGroups.load(id))[part] });

const Member = object('Member', () => ({}));
const Food = object('Food', (t) => ({
  quantity: t.exposeFloat('quantity'),
  expiry: t.expose('expiry', { type: 'DateTime' }),
}));
const Container = object('Container', (t) => ({ foods: list(t, Food, foodsInContainers) }));
const Group = object('Group', (t) => ({
  users: contents(t, Member, 'members'),
  containers: contents(t, Container, 'containers'),
}));
const User = builder.loadableObject('User', {
  load: users,
  fields: (t) => ({ ...named(t), groups: list(t, Group, groupsOfUsers) }),
});

builder.queryType({
  fields: (t) => ({
    user: t.field({ type: User, nullable: true, args: { id: t.arg.id({ required: true }) }, resolve: (_, { id }) => id }),
  }),
});

const yoga = createYoga({ schema: builder.toSchema(), context: () => loaders(), graphiql: false, logging: false });
const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => listening(server.address().port));
