/** What would make a run depend on the machine. Product code has a `Clock` and is handed its chance and its ids. */
const forbidden: readonly (readonly [name: string, owner: object, property: string])[] = [
  ['Date.now', Date, 'now'],
  ['Math.random', Math, 'random'],
  ['performance.now', performance, 'now'],
  ['setTimeout', globalThis, 'setTimeout'],
  ['setInterval', globalThis, 'setInterval'],
  ['setImmediate', globalThis, 'setImmediate'],
  ['AbortSignal.timeout', AbortSignal, 'timeout'],
];

/** Runs `work` and tells it who used a clock or chance of the machine meanwhile: `work` yields to nothing but microtasks, so it was ours. */
export const withForbiddenGlobals = async <T>(work: (used: ReadonlySet<string>) => Promise<T>): Promise<T> => {
  const used = new Set<string>();
  const originals = forbidden.map(([name, owner, property]) => {
    const original = Reflect.get(owner, property) as (...args: unknown[]) => unknown;
    Reflect.set(owner, property, (...args: unknown[]) => {
      used.add(`${name}${new Error().stack?.split('\n')[2] ?? ''}`);
      return original.apply(owner, args);
    });
    return () => Reflect.set(owner, property, original);
  });
  try {
    return await work(used);
  } finally {
    for (const restore of originals) restore();
  }
};
