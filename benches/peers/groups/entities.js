// The items of users, groups and containers in one table, as ElectroDB knows them.

import { Entity, Service } from 'electrodb';
import { client, key } from '../table.js';

const text = { type: 'string', required: true };

function entity(name, attributes, primary) {
  const model = { service: 'groups', entity: name, version: '1' };
  return new Entity({ model, attributes: { id: text, name: text, ...attributes }, indexes: { primary } }, { client, table: 'App' });
}

export const User = entity('user', {}, { pk: key('PK', ['id'], 'USER#${id}'), sk: key('SK', [], 'PROFILE') });

export const Group = entity(
  'group',
  { userId: text },
  { pk: key('PK', ['userId'], 'USER#${userId}'), sk: key('SK', ['id'], 'GROUP#${id}') },
);

const Member = entity(
  'member',
  { groupId: text },
  { collection: 'contents', pk: key('PK', ['groupId'], 'GROUP#${groupId}'), sk: key('SK', ['id'], 'USER#${id}') },
);

const Container = entity(
  'container',
  { groupId: text },
  { collection: 'contents', pk: key('PK', ['groupId'], 'GROUP#${groupId}'), sk: key('SK', ['id'], 'CONT#${id}') },
);

export const Food = entity(
  'food',
  { containerId: text, quantity: { type: 'number', required: true }, expiry: text },
  { pk: key('PK', ['containerId'], 'CONT#${containerId}'), sk: key('SK', ['id'], 'FOOD#${id}') },
);

/** The members and the containers of a group, which one Query reads. */
export const InGroup = new Service({ members: Member, containers: Container }, { client, table: 'App' });
