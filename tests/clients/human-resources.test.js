// The samples of examples/human-resources are what ElectroDB writes, and what it reads: its own items of the same employees, tasks and
// offices are equal to them, attribute for attribute.

import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Entity, Service } from 'electrodb';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { createTable, items, serve, stop, tables } from './tables.js';

const INDEXES = ['gsi1', 'gsi2', 'gsi3', 'gsi4', 'gsi5'];

const primary = (pk, sk) => ({ pk: { field: 'pk', composite: pk }, sk: { field: 'sk', composite: sk } });

/** An index whose keys are named after it. */
const index = (name, pk, sk, collection) => ({
  index: `${name}pk-${name}sk-index`,
  ...(collection ? { collection } : {}),
  pk: { field: `${name}pk`, composite: pk },
  sk: { field: `${name}sk`, composite: sk },
});

/** An entity with these attributes, of texts but for those that are given. */
const entity = (name, texts, attributes, indexes) =>
  new Entity({
    model: { entity: name, version: '1', service: 'taskapp' },
    attributes: { ...Object.fromEntries(texts.map((text) => [text, { type: 'string' }])), ...attributes },
    indexes,
  });

/** The employees, tasks and offices of a table. */
function company(client, table) {
  const employees = entity(
    'employee',
    ['employee', 'firstName', 'lastName', 'office', 'title', 'manager', 'dateHired', 'birthday'],
    {
      team: { type: ['development', 'marketing', 'finance', 'product'] },
      salary: { type: 'number', padding: { length: 7, char: '0' } },
    },
    {
      employee: primary(['employee'], []),
      coworkers: index('gsi1', ['office'], ['team', 'title', 'employee'], 'workplaces'),
      teams: index('gsi2', ['team'], ['title', 'salary', 'employee']),
      employeeLookup: index('gsi3', ['employee'], [], 'assignments'),
      roles: index('gsi4', ['title'], ['salary', 'employee']),
      directReports: index('gsi5', ['manager'], ['team', 'office', 'employee']),
    },
  );
  const tasks = entity('task', ['task', 'project', 'employee', 'description'], {}, {
    task: primary(['task'], ['project', 'employee']),
    project: index('gsi1', ['project'], ['employee', 'task']),
    assigned: index('gsi3', ['employee'], ['project', 'task'], 'assignments'),
  });
  const offices = entity('office', ['office', 'country', 'state', 'city', 'zip', 'address'], {}, {
    locations: primary(['country', 'state'], ['city', 'zip', 'office']),
    office: index('gsi1', ['office'], [], 'workplaces'),
  });
  return new Service({ employees, tasks, offices }, { client, table });
}

describe('ElectroDB, with the example of human resources', () => {
  let client, samples, own, alone, run;

  before(async () => {
    const server = await tables();
    client = server.client;
    const named = (keys) => `${keys}pk-${keys}sk-index`;
    for (const name of ['projectmanagement', 'alone']) await createTable(client, name, { indexes: INDEXES, named });
    own = company(client, 'projectmanagement');
    alone = company(client, 'alone');
    const lines = (await readFile(new URL('projectmanagement.jsonl', import.meta.url), 'utf8')).trim().split('\n');
    samples = lines.map((line) => JSON.parse(line).Item);
    for (const Item of samples) await client.send(new PutItemCommand({ TableName: 'projectmanagement', Item }));
    run = await serve('human-resources.graphql', server.endpoint);
  });

  after(stop);

  it('writes the samples', async () => {
    for (const sample of samples) {
      const entity = alone.entities[`${sample.__edb_e__.S}s`];
      await entity.put(entity.parse({ Item: unmarshall(sample) }).data).go();
    }
    const found = await items(client, 'projectmanagement');
    assert.equal(found.length, samples.length);
    assert.deepEqual(found, await items(client, 'alone'));
  });

  it('finds what Keyfold finds, for each access pattern', async () => {
    const data = await run(`{
      assignments(employeeId: "GHopper") { ... on Employee { id } ... on Task { id } }
      workplaces(officeId: "Harbor Works") { ... on Employee { id } ... on Office { id } }
      projectTasks(project: "Payroll 2.0") { nodes { id employeeId } }
      offices(country: "usa", state: "Maine") { id }
      employeesByTitle(title: "Engineer", upTo: 99999) { id }
      employee(id: "ghopper") { tasks { id } reports { id } }
      celebrations(officeId: "Harbor Works", from: "1990-01-01", until: "1999-12-31") { id }
    }`);
    const { employees, tasks, offices } = own.entities;
    const ids = (found, name) => found.data.map((item) => item[name]);
    const assigned = await own.collections.assignments({ employee: 'GHopper' }).go();
    const { employee } = data;
    assert.deepEqual(
      data.assignments.map(({ id }) => id),
      [...assigned.data.employees.map(({ employee }) => employee), ...assigned.data.tasks.map(({ task }) => task)],
    );
    const workplaces = await own.collections.workplaces({ office: 'Harbor Works' }).go();
    const workers = workplaces.data.employees.map(({ employee }) => employee);
    assert.deepEqual(data.workplaces.map(({ id }) => id), [...workers, 'Harbor Works']);
    assert.deepEqual(employee.tasks.map(({ id }) => id), ids(await tasks.query.assigned({ employee: 'GHopper' }).go(), 'task'));
    const project = await tasks.query.project({ project: 'Payroll 2.0' }).go();
    assert.deepEqual(data.projectTasks.nodes, project.data.map(({ task, employee }) => ({ id: task, employeeId: employee })));
    const locations = await offices.query.locations({ country: 'USA', state: 'Maine' }).go();
    assert.deepEqual(data.offices.map(({ id }) => id), ids(locations, 'office'));
    const roles = await employees.query.roles({ title: 'Engineer' }).lte({ salary: 99_999 }).go();
    assert.deepEqual(data.employeesByTitle.map(({ id }) => id), ids(roles, 'employee'));
    const reports = await employees.query.directReports({ manager: 'GHopper' }).go();
    assert.deepEqual(employee.reports.map(({ id }) => id), ids(reports, 'employee'));
    const celebrations = await employees.query
      .coworkers({ office: 'Harbor Works' })
      .where(({ birthday, dateHired }, { between }) =>
        [dateHired, birthday].map((day) => between(day, '1990-01-01', '1999-12-31')).join(' OR '),
      )
      .go();
    assert.deepEqual(data.celebrations.map(({ id }) => id), ids(celebrations, 'employee'));
    const found = [data.assignments, data.workplaces, data.projectTasks.nodes, data.offices, data.employeesByTitle, data.celebrations];
    [...found, employee.tasks, employee.reports].forEach((list) => assert.ok(list.length > 0));
  });

  it('reads what Keyfold writes as what it writes itself', async () => {
    const { employees, tasks } = alone.entities;
    const hired = { office: 'Lab North', title: 'Founder', team: 'finance', salary: 9, dateHired: '2026-11-02', birthday: '2000-02-29' };
    for (const employee of [
      { ...hired, employee: 'EBoss', firstName: 'Emmy', lastName: 'Noether' },
      { ...hired, employee: 'HPeer', firstName: 'Hedy', lastName: 'Lamarr', manager: 'EBoss' },
    ]) {
      const { employee: id, office: officeId, manager: managerId, team, ...rest } = employee;
      const input = { ...rest, id, officeId, managerId, team: team.toUpperCase() };
      await run('mutation ($input: HireInput!) { hire(input: $input) { id manager { id } } }', { input });
      await employees.create(employee).go();
    }
    await run('mutation { promote(id: "HPeer", title: "Chief", salary: 1234567) { title } }');
    const { employee, office, team } = (await employees.get({ employee: 'HPeer' }).go()).data;
    await employees.patch({ employee }).set({ title: 'Chief', salary: 1_234_567 }).composite({ team, office }).go();
    const task = { task: 'Draw Maps', project: 'Harbor move', employee: 'HPeer', description: 'Of all floors' };
    await run(`mutation { assign(id: "Draw Maps", project: "Harbor move", employeeId: "HPeer", description: "Of all floors") { id } }`);
    await tasks.create(task).go();
    await run('mutation { finish(id: "Move servers", project: "Harbor move", employeeId: "GHopper") { id } }');
    await tasks.delete({ task: 'Move servers', project: 'Harbor move', employee: 'GHopper' }).go();
    const found = await items(client, 'projectmanagement');
    assert.equal(found.length, samples.length + 2);
    assert.deepEqual(found, await items(client, 'alone'));
  });
});
