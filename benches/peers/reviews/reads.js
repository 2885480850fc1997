// What the resolvers read: each key once a request, in BatchGetItems, and Queries side by side.

import DataLoader from 'dataloader';
import { Product, Review, Reviewed, User } from './entities.js';

const all = { pages: 'all' };

/** Items by their keys, in BatchGetItems. */
const items = (entity) => async (keys) => (await entity.get(keys).go({ preserveBatchOrder: true })).data;
/** DynamoDB has no Query of several partitions, so they go side by side. */
const lists = (query) => (keys) => Promise.all(keys.map(async (key) => (await query(key).go(all)).data));

const users = items(User);
const products = items(Product);

/** What a request reads. A list tells the loaders what it has brought. */
export function reads() {
  const loaders = {
    users: new DataLoader((ids) => users(ids.map((id) => ({ id })))),
    products: new DataLoader((upcs) => products(upcs.map((upc) => ({ upc })))),
    reviews: new DataLoader(items(Review), { cacheKeyFn: ({ upc, id }) => `${upc} ${id}` }),
    reviewsOfProducts: new DataLoader(lists((upc) => Review.query.primary({ upc }))),
    reviewedByUsers: new DataLoader(lists((userId) => Reviewed.query.primary({ userId }))),
  };
  return {
    ...loaders,
    async allUsers() {
      const { data } = await User.query.primary({}).go(all);
      for (const user of data) loaders.users.prime(user.id, user);
      return data;
    },
    async topProducts() {
      const { data } = await Product.query.primary({}).go(all);
      for (const product of data) loaders.products.prime(product.upc, product);
      return data;
    },
    async reviewsOfUser(id) {
      const links = await loaders.reviewedByUsers.load(id);
      return loaders.reviews.loadMany(links.map(({ upc, reviewId }) => ({ upc, id: reviewId })));
    },
  };
}
