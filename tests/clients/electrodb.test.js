// ElectroDB: Keyfold serves a table that ElectroDB has filled, and ElectroDB reads what Keyfold has written. A second table has all
// of it by ElectroDB alone, and in the end both have the same items, attribute for attribute.

import { Entity, Service } from 'electrodb';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTable, items, serve, stop, tables } from './tables.js';

/** The entities of a shop in one table, and their collection. */
function shop(client, table) {
  const byTeam = (sorted) => ({
    index: 'gsi1',
    collection: 'staff',
    pk: { field: 'gsi1pk', composite: ['team'], casing: 'upper' },
    sk: { field: 'gsi1sk', composite: [sorted], casing: 'none' },
  });
  const text = { type: 'string', required: true };
  const users = new Entity(
    {
      model: { entity: 'user', version: '1', service: 'Shop' },
      attributes: {
        userId: text,
        team: text,
        joinedAt: text,
        email: text,
        level: { type: ['gold', 'silver'], required: true },
        visits: { type: 'number', required: true },
        active: { type: 'boolean' },
        labels: { type: 'set', items: 'string' },
        address: { type: 'map', properties: { city: { type: 'string' }, zip: { type: 'number' } } },
      },
      indexes: {
        primary: { pk: { field: 'pk', composite: ['userId'] }, sk: { field: 'sk', composite: [] } },
        byTeam: byTeam('joinedAt'),
      },
    },
    { client, table },
  );
  const tasks = new Entity(
    {
      model: { entity: 'task', version: '2', service: 'Shop' },
      attributes: {
        userId: text,
        taskId: { type: 'number', required: true, padding: { length: 5, char: '0' } },
        team: text,
        dueAt: text,
        points: { type: 'number', required: true, padding: { length: 3, char: '0' } },
        title: { type: 'string' },
      },
      indexes: {
        primary: { pk: { field: 'pk', composite: ['userId'] }, sk: { field: 'sk', composite: ['taskId'] } },
        byTeam: byTeam('dueAt'),
        byPoints: {
          index: 'gsi2',
          pk: { field: 'gsi2pk', composite: ['userId'] },
          sk: { field: 'gsi2sk', composite: ['points', 'dueAt'] },
        },
      },
    },
    { client, table },
  );
  return new Service({ users, tasks }, { client, table });
}

const ANN = {
  userId: 'Ann',
  team: 'Straße',
  joinedAt: '2026-01-02T03:04:05.678Z',
  email: 'Ann@example.com',
  level: 'gold',
  visits: 3,
  active: true,
  labels: ['new', 'VIP'],
  address: { city: 'Köln', zip: 50667 },
};
const BOB = { userId: 'bob', team: 'Red', joinedAt: '2026-03-01T00:00:00.000Z', email: 'b@x.org', level: 'silver', visits: 0 };
const CLEO = {
  userId: 'CLEO',
  team: 'Red',
  joinedAt: '2026-05-01T12:00:00.250Z',
  email: 'c@x.org',
  level: 'gold',
  visits: 1,
  active: false,
  labels: ['late'],
  address: { city: 'Lyon', zip: 69001 },
};
const TASKS = [1, 2, 3, 4, 12].map((taskId) => ({
  userId: 'Ann',
  taskId,
  team: 'Red',
  dueAt: `2026-0${1 + (taskId % 5)}-10T08:00:00.000Z`,
  points: taskId * 10,
  title: `Task ${taskId}`,
}));
const MORE = { userId: 'CLEO', taskId: 7, team: 'Blue', dueAt: '2026-02-03T04:05:06.789Z', points: 8, title: 'Écrire' };

/** A type's enum value as the API has it. */
const inApi = ({ level, ...user }) => ({ ...user, level: level.toUpperCase() });

describe('ElectroDB', () => {
  let client, run, app, alone;

  before(async () => {
    const server = await tables();
    client = server.client;
    for (const name of ['electrodb', 'electrodb-alone']) await createTable(client, name, { indexes: ['gsi1', 'gsi2'] });
    app = shop(client, 'electrodb');
    alone = shop(client, 'electrodb-alone');
    for (const { entities } of [app, alone]) {
      for (const user of [ANN, BOB]) await entities.users.put(user).go();
      for (const task of TASKS) await entities.tasks.put(task).go();
    }
    run = await serve('electrodb.graphql', server.endpoint);
  });

  after(stop);

  it('has its items read: one, lists, ranges and pages', async () => {
    const { user } = await run(
      `query ($userId: ID!) { user(userId: $userId) {
        userId team joinedAt email level visits active labels address { city zip }
        tasks(first: 2) { nodes { taskId title } pageInfo { hasNextPage endCursor } }
        tasksByPoints(min: 20, max: 40) { points }
      } }`,
      { userId: 'Ann' },
    );
    const { tasks, tasksByPoints, ...own } = user;
    assert.deepEqual({ ...own, labels: [...own.labels].sort() }, { ...inApi(ANN), labels: ['VIP', 'new'] });
    assert.deepEqual(tasks.nodes.map((task) => task.taskId), [1, 2]);
    assert.deepEqual(tasksByPoints.map((task) => task.points), [20, 30, 40]);
    const rest = await run(
      `query ($after: String) {
        user(userId: "ANN") { userId tasks(after: $after) { nodes { taskId entity } pageInfo { hasNextPage } } }
      }`,
      { after: tasks.pageInfo.endCursor },
    );
    assert.equal(rest.user.userId, 'Ann', 'the key has it in lower case');
    assert.deepEqual(rest.user.tasks.nodes, [3, 4, 12].map((taskId) => ({ taskId, entity: 'task' })));
    assert.equal(rest.user.tasks.pageInfo.hasNextPage, false);
  });

  it('has its indexes read, in each case of keys, and its collection', async () => {
    const data = await run(`{
      first: usersOfTeam(team: "STRASSE") { userId }
      since: usersOfTeam(team: "red", since: "2026-03-01T00:00:00Z") { userId }
      later: usersOfTeam(team: "red", since: "2026-03-01T00:00:00.001Z") { userId }
      due: tasksOfTeam(team: "rEd", from: "2026-02-10T08:00:00Z", to: "2026-03-31T00:00:00Z") { taskId user { email } }
      staff(team: "Red") { __typename ... on User { userId } ... on Task { taskId } }
    }`);
    assert.deepEqual(data.first, [{ userId: 'Ann' }]);
    assert.deepEqual(data.since, [{ userId: 'bob' }]);
    assert.deepEqual(data.later, []);
    assert.deepEqual(data.due, [1, 2, 12].map((taskId) => ({ taskId, user: { email: 'Ann@example.com' } })));
    const { data: collection } = await app.collections.staff({ team: 'Red' }).go();
    const count = (name) => data.staff.filter(({ __typename }) => __typename === name).length;
    assert.deepEqual([count('User'), count('Task')], [collection.users.length, collection.tasks.length]);
  });

  it('reads what Keyfold writes as what it writes itself', async () => {
    const user = `mutation ($userId: ID!, $team: String!, $joinedAt: DateTime!, $email: String!, $level: Level!, $visits: Int!,
        $active: Boolean, $labels: [String!], $address: AddressInput) {
      addUser(userId: $userId, team: $team, joinedAt: $joinedAt, email: $email, level: $level, visits: $visits, active: $active,
        labels: $labels, address: $address) { userId }
    }`;
    const task = `mutation ($userId: ID!, $taskId: Int!, $team: String!, $dueAt: DateTime!, $points: Int!, $title: String) {
      addTask(userId: $userId, taskId: $taskId, team: $team, dueAt: $dueAt, points: $points, title: $title) { taskId entity }
    }`;
    const users = alone.entities.users;
    const tasks = alone.entities.tasks;

    await run(user, inApi(CLEO));
    await users.create(CLEO).go();
    assert.deepEqual(await run(task, MORE), { addTask: { taskId: 7, entity: 'task' } });
    await tasks.create(MORE).go();

    await run('mutation { moveUser(userId: "Ann", team: "Blue") { team } visit(userId: "Ann") { visits } }');
    await users.patch({ userId: 'Ann' }).set({ team: 'Blue' }).composite({ joinedAt: ANN.joinedAt }).go();
    await users.patch({ userId: 'Ann' }).add({ visits: 1 }).go();

    const change = { userId: 'Ann', taskId: 3, dueAt: '2026-12-24T18:00:00.005Z', points: 5 };
    await run(
      `mutation ($userId: ID!, $taskId: Int!, $dueAt: DateTime, $points: Int) {
        changeTask(userId: $userId, taskId: $taskId, dueAt: $dueAt, points: $points) { points }
      }`,
      change,
    );
    const { dueAt, points } = change;
    await tasks.patch({ userId: 'Ann', taskId: 3 }).set({ dueAt, points }).composite({ team: 'Red' }).go();
    // Null takes the attribute away, as ElectroDB's `remove` does.
    await run('mutation { changeTask(userId: "Ann", taskId: 4, title: null) { title } }');
    await tasks.patch({ userId: 'Ann', taskId: 4 }).remove(['title']).go();

    await run('mutation { removeUser(userId: "bob") { userId } removeTask(userId: "Ann", taskId: 12) { taskId } }');
    await users.delete({ userId: 'bob' }).go();
    await tasks.delete({ userId: 'Ann', taskId: 12 }).go();

    assert.deepEqual(await items(client, 'electrodb'), await items(client, 'electrodb-alone'));
  });

  it('finds everything again: by keys, by indexes and by the collection', async () => {
    const reads = async ({ entities, collections }) => [
      await entities.users.get({ userId: 'CLEO' }).go(),
      await entities.users.get({ userId: 'bob' }).go(),
      await entities.tasks.query.primary({ userId: 'Ann' }).go(),
      await entities.tasks.query.byPoints({ userId: 'Ann' }).lte({ points: 30 }).go(),
      await entities.tasks.query.byTeam({ team: 'Red' }).gt({ dueAt: '2026-03-01' }).go(),
      await collections.staff({ team: 'Blue' }).go(),
    ];
    const found = await reads(app);
    assert.deepEqual(found, await reads(alone));
    assert.deepEqual(found[0].data, CLEO);
    assert.equal(found[1].data, null);
    assert.deepEqual(found[3].data.map(({ points }) => points), [5, 10, 20]);
    assert.deepEqual(found[5].data.tasks, [MORE]);
  });
});
