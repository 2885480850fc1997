// GraphQL Yoga with Pothos, DataLoader, and ElectroDB.

import SchemaBuilder from '@pothos/core';
import { createYoga } from 'graphql-yoga';
import { createServer } from 'node:http';
import { listening } from '../table.js';
import { reads } from './reads.js';

const builder = new SchemaBuilder({ defaultFieldNullability: false });
const [User, Review, Product] = ['User', 'Review', 'Product'].map((name) => builder.objectRef(name));

User.implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    username: t.exposeString('username'),
    name: t.exposeString('name'),
    reviews: t.field({ type: [Review], resolve: ({ id }, _, { reviewsOfUser }) => reviewsOfUser(id) }),
  }),
});
Review.implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    body: t.exposeString('body'),
    author: t.field({ type: User, resolve: ({ authorId }, _, { users }) => users.load(authorId) }),
    product: t.field({ type: Product, resolve: ({ upc }, _, { products }) => products.load(upc) }),
  }),
});
Product.implement({
  fields: (t) => ({
    upc: t.exposeID('upc'),
    name: t.exposeString('name'),
    price: t.exposeInt('price'),
    weight: t.exposeInt('weight'),
    inStock: t.exposeBoolean('inStock'),
    shippingEstimate: t.exposeInt('shippingEstimate', { nullable: true }),
    reviews: t.field({ type: [Review], resolve: ({ upc }, _, { reviewsOfProducts }) => reviewsOfProducts.load(upc) }),
  }),
});
builder.queryType({
  fields: (t) => ({
    users: t.field({ type: [User], resolve: (_, __, { allUsers }) => allUsers() }),
    topProducts: t.field({ type: [Product], resolve: (_, __, { topProducts }) => topProducts() }),
  }),
});

const yoga = createYoga({ schema: builder.toSchema(), context: () => reads(), graphiql: false, logging: false });
const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => listening(server.address().port));
