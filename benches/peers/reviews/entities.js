// The items of users, products and reviews in one table, as ElectroDB knows them.

import { Entity } from 'electrodb';
import { client, key } from '../table.js';

const text = { type: 'string', required: true };
const number = { type: 'number', required: true };

function entity(name, attributes, pk, sk) {
  const model = { service: 'reviews', entity: name, version: '1' };
  return new Entity({ model, attributes, indexes: { primary: { pk, sk } } }, { client, table: 'Reviews' });
}

export const User = entity(
  'user',
  { id: text, username: text, name: text },
  key('PK', [], 'USERS'),
  key('SK', ['id'], 'USER#${id}'),
);

/** A user's link to a review. */
export const Reviewed = entity(
  'reviewed',
  { userId: text, reviewId: text, upc: text },
  key('PK', ['userId'], 'USER#${userId}'),
  key('SK', ['reviewId'], 'REVIEW#${reviewId}'),
);

export const Product = entity(
  'product',
  { upc: text, name: text, price: number, weight: number, inStock: { type: 'boolean', required: true }, shippingEstimate: { type: 'number' } },
  key('PK', [], 'PRODUCTS'),
  key('SK', ['upc'], 'PRODUCT#${upc}'),
);

export const Review = entity(
  'review',
  { upc: text, id: text, body: text, authorId: text },
  key('PK', ['upc'], 'PRODUCT#${upc}'),
  key('SK', ['id'], 'REVIEW#${id}'),
);
