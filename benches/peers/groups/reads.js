// What the resolvers read: each function takes the keys of a request that are wanted at once, and gives the answers in their order.

import DataLoader from 'dataloader';
import { Food, Group, InGroup, User } from './entities.js';

const all = { pages: 'all' };

/** Users by their ids, in BatchGetItems. */
export async function users(ids) {
  const { data } = await User.get(ids.map((id) => ({ id }))).go({ preserveBatchOrder: true });
  return data;
}

/** The groups of each user. */
export const groupsOfUsers = (ids) => each(ids, (userId) => Group.query.primary({ userId }).go(all));

/** The members and the containers of each group. */
export const contentsOfGroups = (ids) => each(ids, (groupId) => InGroup.collections.contents({ groupId }).go(all));

/** The foods in each container. */
export const foodsInContainers = (ids) => each(ids, (containerId) => Food.query.primary({ containerId }).go(all));

/** DynamoDB has no Query of several partitions, so they go side by side. */
const each = (ids, query) => Promise.all(ids.map(async (id) => (await query(id)).data));

/** Loaders that read each key once a request. */
export const loaders = () => ({
  users: new DataLoader(users),
  groupsOfUsers: new DataLoader(groupsOfUsers),
  contentsOfGroups: new DataLoader(contentsOfGroups),
  foodsInContainers: new DataLoader(foodsInContainers),
});
