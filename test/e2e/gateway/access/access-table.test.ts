import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../../services/gateway/server/operations.ts';
import { roles } from '../../../../shared/domain/values/role.ts';
import { registeredRoutes } from '../registered-routes.ts';
import { connect } from '../websocket/websocket-client.ts';
import { asks } from './access-asks.ts';
import { parts, questions, questionsOf } from './access-matrix.ts';
import { configOf, type Name, names, openGateway } from './access-rig.ts';
import { open, rows } from './access-table.ts';

describe('the table of the access matrix', () => {
  test('has every route, every method by name, every tool and every role, and nothing that is not there', async () => {
    const gateway = await openGateway();
    const { methods } = await (await connect(gateway.url)).next('hello');
    const routes = (await registeredRoutes()).map(({ method, url }) => `${method} ${url}`);
    const named = (kind: 'rpc' | 'mcp') => operations.flatMap((one) => (one[kind] ? [`${kind} ${one[kind].name}`] : []));
    // What a connection alone has, and what the table of operations declares.
    const own = methods.map((name: string) => `rpc ${name}`);
    const there = [...new Set([...routes, ...own, ...named('rpc'), ...named('mcp')])];
    const declared = operations.flatMap(({ http }) =>
      http ? [`${http.method.toUpperCase()} ${http.path.replace('/*', '*')}`] : [],
    );
    expect(
      declared.filter((one) => !routes.includes(one)),
      'declared, but not served',
    ).toEqual([]);
    const asked = rows.map(({ title }) => title.split(',')[0]?.replace(/^ws /, 'rpc ') ?? '');
    // Methods and tools are asked by these.
    const all = new Set([...asked, ...Object.keys(open), 'POST /v1/rpc']);
    expect(
      there.filter((one) => !all.has(one)),
      'not in the table',
    ).toEqual([]);
    expect(
      [...all].filter((one) => !there.includes(one)),
      'nowhere but in the table',
    ).toEqual([]);
    const configured = Object.values(configOf().gateway.tokens).map(({ role }) => role);
    expect(new Set([...configured, 'viewer'])).toEqual(new Set(roles));
    expect(rows.map(({ title }) => title).sort()).toEqual(Object.keys(asks).sort());
    for (const { title, cells } of rows)
      expect(cells.map(({ name }: { name: Name }) => name).sort(), title).toEqual([...names].sort());
  });

  test('is asked whole: each line by each of its interfaces is in one part, and each part is a test file', () => {
    const asked = Array.from({ length: parts }, (_, index) => questionsOf(index + 1)).flat();
    const titles = (of: typeof questions): string[] => of.map(([title]) => title).sort();
    expect(titles(asked)).toEqual(titles(questions));
    expect(new Set(titles(questions)).size).toBe(questions.length);
    expect([...new Set(questions.map(([, { title }]) => title))].sort()).toEqual(rows.map(({ title }) => title).sort());
    const here = new URL('.', import.meta.url);
    const files = readdirSync(here).filter((name) => /^access-matrix-\d+\.test\.ts$/.test(name));
    const tested = files.map((name) => /^testPart\((\d+)\);$/m.exec(readFileSync(new URL(name, here), 'utf8'))?.[1]);
    expect(tested.sort()).toEqual(Array.from({ length: parts }, (_, index) => `${index + 1}`));
  });
});
