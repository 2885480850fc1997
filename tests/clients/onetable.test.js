// OneTable: Keyfold serves tables that OneTable has filled, and OneTable reads what Keyfold has written. Other tables have all of it
// by OneTable alone, and in the end they have the same items, attribute for attribute, but for the times of their writing.

import { Table } from 'dynamodb-onetable';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTable, items, serve, stop, tables } from './tables.js';

const key = (value) => ({ type: String, value });
const text = { type: String, required: true };

/** Accounts and users, with times as ISO texts. */
const COMPANY = {
  indexes: { primary: { hash: 'pk', sort: 'sk' }, gs1: { hash: 'gs1pk', sort: 'gs1sk', project: 'all' } },
  models: {
    Account: {
      pk: key('account#${id}'),
      sk: key('account#'),
      id: text,
      name: { ...text, unique: true },
      plan: { type: String, enum: ['free', 'pro'], default: 'free' },
      balance: { type: Number, default: 0 },
      opened: { type: Date },
      address: { type: Object, schema: { city: text, zip: { type: String } } },
    },
    User: {
      pk: key('account#${accountId}'),
      sk: key('user#${email}'),
      gs1pk: key('role#${role}'),
      gs1sk: key('${hired}#${email}'),
      accountId: text,
      email: text,
      role: { type: String, enum: ['admin', 'user'], required: true },
      hired: { type: Date, required: true },
      age: { type: Number },
      active: { type: Boolean },
    },
  },
};

/** Visits, with times in milliseconds. */
const PAGES = {
  indexes: { primary: { hash: 'pk', sort: 'sk' } },
  models: {
    Visit: {
      pk: key('page#${page}'),
      sk: key('visit#${at}#${number:6:0}'),
      page: text,
      number: { type: Number, required: true },
      at: { type: Date, required: true },
      seconds: { type: Number },
      expires: { type: Date, ttl: true },
    },
  },
};

/** The models of a table. */
function models(client, name, schema, isoDates) {
  const params = { isoDates, timestamps: true };
  const table = new Table({ name, client, partial: true, schema: { format: 'onetable:1.1.0', version: '0.0.1', params, ...schema } });
  return Object.fromEntries(Object.keys(schema.models).map((model) => [model, table.getModel(model)]));
}

const ACME = {
  id: 'Acme',
  name: 'Acme & Söhne',
  plan: 'pro',
  balance: 12.5,
  opened: new Date('2026-01-02T03:04:05.678Z'),
  address: { city: 'Köln', zip: '50667' },
};
const BOLT = { id: 'bolt', name: 'Bolt', plan: 'free', balance: 0 };
const COLT = { id: 'colt', name: 'Colt #1', plan: 'pro', balance: 0.1, opened: new Date('2026-05-06T00:00:00Z') };
const USERS = [1, 2, 3, 4].map((number) => ({
  accountId: 'Acme',
  email: `u${number}@example.com`,
  role: number % 2 ? 'admin' : 'user',
  hired: new Date(Date.UTC(2026, number, 1, 12)),
  age: 20 + number,
  active: number < 3,
}));
const EVE = { accountId: 'Acme', email: 'Eve@example.com', role: 'user', hired: new Date('2026-09-09T09:09:09.009Z'), active: false };
const VISITS = [1, 2, 3].map((number) => ({
  page: '/home',
  number,
  at: new Date(Date.UTC(2026, 5, number, 0, 0, 0, number)),
  seconds: number / 4,
  expires: new Date(Date.UTC(2027, 0, number)),
}));
const VISIT = { page: '/home', number: 7, at: new Date('2026-07-08T09:10:11.012Z'), seconds: 3 };

/** Items without their times of writing, which are of the wanted type. */
function timeless(items, kind) {
  return items.map(({ created, updated, ...rest }) => {
    // What makes a value unique has no times.
    if (rest._type.S === '_Unique') return assert.deepEqual([created, updated], [undefined, undefined]), rest;
    for (const time of [created, updated]) {
      assert.deepEqual(Object.keys(time), [kind]);
      const at = kind === 'N' ? Number(time.N) : Date.parse(time.S);
      assert.equal(kind === 'N' ? String(at) : new Date(at).toISOString(), time[kind]);
      assert.ok(Math.abs(Date.now() - at) < 600_000, time[kind]);
    }
    return rest;
  });
}

describe('OneTable', () => {
  let client, run, own, alone, visits, visitsAlone;

  before(async () => {
    const server = await tables();
    client = server.client;
    for (const name of ['onetable', 'onetable-alone']) await createTable(client, name, { indexes: ['gs1'] });
    for (const name of ['onetable-millis', 'onetable-millis-alone']) await createTable(client, name, { expires: 'expires' });
    own = models(client, 'onetable', COMPANY, true);
    alone = models(client, 'onetable-alone', COMPANY, true);
    visits = models(client, 'onetable-millis', PAGES, false).Visit;
    visitsAlone = models(client, 'onetable-millis-alone', PAGES, false).Visit;
    for (const { Account, User } of [own, alone]) {
      for (const account of [ACME, BOLT]) await Account.create(account);
      for (const user of USERS) await User.create(user);
    }
    for (const model of [visits, visitsAlone]) for (const visit of VISITS) await model.create(visit);
    run = await serve('onetable.graphql', server.endpoint);
  });

  after(stop);

  it('has its items read: one, lists, ranges, pages and an index', async () => {
    const { account } = await run(`{ account(id: "Acme") {
      id name plan balance opened address { city zip } type created updated
      users(first: 3) { nodes { email role age active hired } pageInfo { hasNextPage endCursor } }
    } }`);
    const { users, created, updated, ...rest } = account;
    assert.deepEqual(rest, { ...ACME, plan: 'PRO', opened: ACME.opened.toISOString(), type: 'Account' });
    assert.ok(Date.parse(created) <= Date.parse(updated));
    const inApi = ({ accountId, ...user }) => ({ ...user, role: user.role.toUpperCase(), hired: user.hired.toISOString() });
    assert.deepEqual(users.nodes, USERS.slice(0, 3).map(inApi));
    const page = await run(
      'query ($after: String) { account(id: "Acme") { users(after: $after) { nodes { email } pageInfo { hasNextPage } } } }',
      { after: users.pageInfo.endCursor },
    );
    assert.deepEqual(page.account.users, { nodes: [{ email: 'u4@example.com' }], pageInfo: { hasNextPage: false } });
    const { admins, later, some } = await run(`{
      admins: usersOfRole(role: ADMIN) { email account { name } }
      later: usersOfRole(role: ADMIN, since: "2026-02-01T12:00:00.001Z") { email }
      some: visits(page: "/home", from: "2026-06-02T00:00:00.002Z", to: "2026-06-30T00:00:00Z") { number at seconds expires }
    }`);
    assert.deepEqual(admins, [1, 3].map((number) => ({ email: `u${number}@example.com`, account: { name: ACME.name } })));
    assert.deepEqual(later, [{ email: 'u3@example.com' }]);
    const visit = ({ page, at, expires, ...rest }) => ({ ...rest, at: at.toISOString(), expires: expires.toISOString() });
    assert.deepEqual(some, VISITS.slice(1).map(visit));
  });

  it('reads what Keyfold writes as what it writes itself', async () => {
    await run(
      `mutation ($id: ID!, $name: String!, $plan: Plan!, $balance: Float!, $opened: DateTime) {
        addAccount(id: $id, name: $name, plan: $plan, balance: $balance, opened: $opened) { id }
      }`,
      { ...COLT, plan: 'PRO' },
    );
    await alone.Account.create(COLT);
    await run('mutation { renameAccount(id: "bolt", name: "Bolt Inc.") { name } pay(id: "Acme", amount: 7.25) { balance } }');
    await alone.Account.update({ id: 'bolt', name: 'Bolt Inc.' });
    await alone.Account.update({ id: 'Acme' }, { add: { balance: 7.25 } });

    await run(
      `mutation ($accountId: ID!, $email: String!, $role: Role!, $hired: DateTime!, $active: Boolean) {
        addUser(accountId: $accountId, email: $email, role: $role, hired: $hired, active: $active) { email }
      }`,
      { ...EVE, role: 'USER' },
    );
    await alone.User.create(EVE);
    await run('mutation { changeUser(accountId: "Acme", email: "u2@example.com", role: ADMIN, age: 43) { age } }');
    await alone.User.update({ accountId: 'Acme', email: 'u2@example.com', role: 'admin', age: 43 });
    await run('mutation { changeUser(accountId: "Acme", email: "u1@example.com", age: null) { age } }');
    await alone.User.update({ accountId: 'Acme', email: 'u1@example.com', age: null });
    await run('mutation { removeUser(accountId: "Acme", email: "u4@example.com") { email } }');
    await alone.User.remove({ accountId: 'Acme', email: 'u4@example.com' });

    await run(
      `mutation ($page: ID!, $at: DateTime!, $number: Int!, $seconds: Float) {
        addVisit(page: $page, at: $at, number: $number, seconds: $seconds) { number }
      }`,
      VISIT,
    );
    await visitsAlone.create(VISIT);
    const { page, at, number } = VISITS[0];
    await run(
      `mutation ($page: ID!, $at: DateTime!, $number: Int!) {
        changeVisit(page: $page, at: $at, number: $number, seconds: 9.75) { seconds }
      }`,
      { page, at, number },
    );
    await visitsAlone.update({ page, at, number, seconds: 9.75 });

    const [one, other] = [await items(client, 'onetable'), await items(client, 'onetable-alone')];
    assert.equal(one.length, 3 + 3 + 4, 'accounts, their names, and users');
    assert.deepEqual(timeless(one, 'S'), timeless(other, 'S'));
    const [millis, millisAlone] = [await items(client, 'onetable-millis'), await items(client, 'onetable-millis-alone')];
    assert.equal(millis.length, 4);
    assert.deepEqual(timeless(millis, 'N'), timeless(millisAlone, 'N'));
  });

  it('and Keyfold keep the same names unique', async () => {
    const add = (id, name) => `mutation { addAccount(id: "${id}", name: "${name}", plan: FREE, balance: 0) { id } }`;
    for (const taken of [ACME.name, COLT.name, 'Bolt Inc.']) {
      await assert.rejects(run(add('dot', taken)), /Another account has this name/);
      await assert.rejects(own.Account.create({ id: 'dot', name: taken }), { name: 'OneTableError', code: 'UniqueError' });
    }
    await run(add('dot', 'Bolt'));
    assert.equal((await own.Account.get({ id: 'dot' })).name, 'Bolt', 'a name that was given up is free');
    await own.Account.remove({ id: 'dot' });
    await run('mutation { closeAccount(id: "colt") { id } }');
    await own.Account.create({ id: 'dot', name: COLT.name });
    await own.Account.remove({ id: 'dot' });
    await alone.Account.remove({ id: 'colt' });
    assert.deepEqual(timeless(await items(client, 'onetable'), 'S'), timeless(await items(client, 'onetable-alone'), 'S'));
  });

  it('finds everything again: by keys and by its index', async () => {
    const untimed = (found) => found.map(({ created, updated, ...rest }) => (assert.ok(updated >= created), rest));
    const reads = async ({ Account, User }, Visit) => [
      untimed([await Account.get({ id: 'bolt' })]),
      untimed(await User.find({ accountId: 'Acme' })),
      untimed(await User.find({ role: 'user' }, { index: 'gs1' })),
      untimed(await Visit.find({ page: '/home' })),
    ];
    const found = await reads(own, visits);
    assert.deepEqual(found, await reads(alone, visitsAlone));
    assert.deepEqual(found[0], [{ ...BOLT, name: 'Bolt Inc.' }]);
    assert.deepEqual(found[1][0], EVE);
    assert.deepEqual(found[2], [EVE]);
    assert.deepEqual(found[3].at(-1), VISIT);
    assert.equal(await own.User.get({ accountId: 'Acme', email: 'u4@example.com' }), undefined);
  });
});
