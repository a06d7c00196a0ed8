import { describe, expect, test } from 'vitest';
import { files, importsOf, product, read } from './project.ts';

/**
 * The order of the house (`docs/architecture.md`): each storey knows only those below it, types included. Rooms, which are folders, form no
 * cycle. A file that puts a room's parts together (`main.ts`, `open.ts`) counts as a room of its own.
 */

const storeys = ['kit', 'domain', 'ports', 'wire', 'adapters', 'runtime'];
/** The client library runs in browsers: it may share the domain's types and the helpers, nothing else. */
const clientMayImport = ['kit', 'domain', 'client'];

const storeyOf = (path: string): string => (path.startsWith('shared/') ? (path.split('/')[1] ?? '') : 'services');

/** The imports of a file that go up. */
const upward = (path: string, text: string): string[] => {
  const here = storeyOf(path);
  return importsOf(path, text).flatMap(({ from }) => {
    if (!/^(shared|services)\//.test(from)) return [];
    const there = storeyOf(from);
    if (here === 'client') return clientMayImport.includes(there) ? [] : [`imports ${from}`];
    if (here === 'services') return [];
    const isBelow = storeys.includes(there) && storeys.indexOf(there) <= storeys.indexOf(here);
    return isBelow ? [] : [`imports ${from}`];
  });
};

const roomOf = (path: string): string => (/\/(main|open)\.ts$/.test(path) ? path : path.split('/').slice(0, -1).join('/'));

/** Which rooms a room imports from, each with one import as an example. */
type Graph = ReadonlyMap<string, ReadonlyMap<string, string>>;
const graphOf = (texts: readonly (readonly [path: string, text: string])[]): Graph => {
  const graph = new Map<string, Map<string, string>>();
  for (const [path, text] of texts)
    for (const { from } of importsOf(path, text)) {
      if (!/^(shared|services)\//.test(from) || roomOf(from) === roomOf(path)) continue;
      const room = graph.get(roomOf(path)) ?? new Map<string, string>();
      graph.set(roomOf(path), room.set(roomOf(from), `${path} → ${from}`));
    }
  return graph;
};

/** The rooms that can be reached from a room. */
const reachable = (graph: Graph, start: string): ReadonlySet<string> => {
  const seen = new Set<string>();
  const waiting = [start];
  for (let room = waiting.pop(); room !== undefined; room = waiting.pop())
    for (const next of graph.get(room)?.keys() ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  return seen;
};
/** The imports that are part of a cycle of rooms. */
const cycles = (graph: Graph): string[] =>
  [...graph].flatMap(([room, imports]) =>
    [...imports].filter(([other]) => reachable(graph, other).has(room)).map(([, example]) => example),
  );

const filesPerFolderMax = 20;
const crowded = (paths: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.split('/').slice(0, -1).join('/');
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > filesPerFolderMax).map(([folder, count]) => `${folder}: ${count}`);
};
/** A golden file for each event, and a record for each decision. */
const grows = /^(test\/golden|docs\/adr)\//;
const counted = files.filter((path) => path.includes('/') && !grows.test(path));

describe('storeys', () => {
  test('a storey imports only from itself and from those below it, types included', () => {
    expect(
      upward('shared/domain/session/fold/evolve.ts', "import type { EventLog } from '../../../ports/event-log.ts';"),
    ).toHaveLength(1);
    expect(upward('shared/runtime/service.ts', "import { host } from '../../services/session/main.ts';")).toHaveLength(1);
    expect(upward('shared/client/main.ts', "import { codec } from '../wire/codec.ts';")).toHaveLength(1);
    expect(product.flatMap((path) => upward(path, read(path)).map((what) => `${path} ${what}`))).toEqual([]);
  });

  test('every folder of shared is a storey', () => {
    const found = new Set(product.filter((path) => path.startsWith('shared/')).map(storeyOf));
    expect([...found].sort()).toEqual([...storeys, 'client'].sort());
  });

  test('rooms form no cycle, types included', () => {
    const bad = [
      ['shared/domain/a/x.ts', "import type { Y } from '../b/y.ts';"],
      ['shared/domain/b/y.ts', "import { x } from '../a/x.ts';"],
    ] as const;
    expect(cycles(graphOf(bad))).toHaveLength(2);
    expect(cycles(graphOf(product.map((path) => [path, read(path)])))).toEqual([]);
  });

  test(`no folder has more than ${filesPerFolderMax} files`, () => {
    expect(crowded(Array.from({ length: filesPerFolderMax + 1 }, (_, index) => `a/${index}.ts`))).toEqual(['a: 21']);
    expect(crowded(counted)).toEqual([]);
  });
});
