import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Row } from './table.ts';

/** What we read of a `.cpuprofile`, as Node's profiler makes it. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  /** Ids of the nodes that ran, one for each sample. */
  readonly samples: readonly number[];
  /** Before each sample, µs. */
  readonly timeDeltas: readonly number[];
}

/** A process under measurement: which services it ran, and where its processor time went. */
export interface ProfileOfProcess {
  readonly title: string;
  readonly rows: readonly Row[];
}

const collection = 'garbage collection';
const native = 'native code and the kernel';
/** An area with less of its process is left out. */
const leastPercent = 2;
/** Longer than this a collection shows in a p99. */
const longPauseMs = 5;

/** Every process that is started from now on writes its profile into a folder when it ends. */
export const profileInto = (folder: string): void => {
  process.env.BENCH_PROFILES = folder;
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import ${new URL('profiler.js', import.meta.url)}`;
};

/** Of each profile in a folder, the busiest process first. Threads and processes that ran no service are left out. */
export const profilesIn = (folder: string): ProfileOfProcess[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => profileOfProcess(JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile))
    .filter((profile) => profile !== undefined)
    .toSorted((a, b) => b.busyMs - a.busyMs);

/**
 * Processor time by area: a folder of ours, a package, a module of Node's, the collector, the kernel. A row's value is what the area used
 * itself, in percent of the process; its note adds what it called.
 */
export const profileOfProcess = (profile: CpuProfile): (ProfileOfProcess & { readonly busyMs: number }) | undefined => {
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const areas = new Map(profile.nodes.map(({ id, callFrame }) => [id, areaOf(callFrame.functionName, callFrame.url)]));
  const itself = new Map<string, number>();
  const inAll = new Map<string, number>();
  const add = (sums: Map<string, number>, area: string, time: number): unknown => sums.set(area, (sums.get(area) ?? 0) + time);
  const pausesMs: number[] = [];
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const area = areas.get(id);
    const time = profile.timeDeltas[index] ?? 0;
    if (area === collection) {
      const goesOn = areas.get(profile.samples[index - 1] ?? 0) === collection;
      pausesMs.push((goesOn ? (pausesMs.pop() ?? 0) : 0) + time / 1_000);
    }
    if (area === undefined) continue;
    busy += time;
    add(itself, area, time);
    const calling = new Set([area]);
    for (let at = parents.get(id); at !== undefined; at = parents.get(at)) calling.add(areas.get(at) ?? area);
    // Native code calls everything: only what it did itself says something.
    if (area !== native) calling.delete(native);
    for (const each of calling) add(inAll, each, time);
  }
  const percent = (time = 0): number => (100 * time) / busy;
  const services = [...inAll].flatMap(([area, time]) => {
    const [, service] = /^services\/(\w+)/.exec(area) ?? [];
    return service === undefined || service === 'cli' || percent(time) < 1 ? [] : [service];
  });
  if (services.length === 0) return undefined;
  const long = pausesMs.filter((ms) => ms > longPauseMs);
  const pauses = `${long.length} of ${pausesMs.length} pauses over ${longPauseMs} ms, the longest ${Math.max(0, ...pausesMs).toFixed(1)} ms`;
  const rows = [...itself]
    .toSorted(([, a], [, b]) => b - a)
    .filter(([, time]) => percent(time) >= leastPercent)
    .map(([what, time]) => {
      const note = what === collection ? pauses : `${percent(inAll.get(what)).toFixed(1)} % with what it calls`;
      return { what, value: percent(time), unit: '%', note };
    });
  const busyMs = busy / 1_000;
  return {
    title: `process of ${[...new Set(services)].toSorted().join(', ')}: ${(busyMs / 1_000).toFixed(1)} s of processor time`,
    rows,
    busyMs,
  };
};

/** Undefined for time in which nothing ran, and for the root of the tree. */
const areaOf = (functionName: string, url: string): string | undefined => {
  if (functionName === '(idle)' || functionName === '(root)') return undefined;
  if (functionName === '(garbage collector)') return collection;
  if (url === '') return native;
  if (url.startsWith('node:')) return `node:${url.replace(/^node:(internal\/)?/, '').split('/')[0]}`;
  const [, scoped] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return scoped ?? dirname(url.replace(/^.*\/dist\//, ''));
};
