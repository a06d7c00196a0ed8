/**
 * Stands in for zod in the page. The rooms of the domain declare their schemas beside their types; the page folds what the gateway has
 * checked, and checks nothing itself. So a schema is something that can be described further and never used: it saves half of the fold's
 * size, and the `eval` that zod tries.
 */
const refuse = (): never => {
  throw new Error('the page has no schemas: what it folds was checked by the gateway');
};
const uses: ReadonlySet<string | symbol> = new Set(['parse', 'safeParse', 'parseAsync', 'safeParseAsync', 'decode', 'encode']);

const described: unknown = new Proxy(() => {}, {
  get: (_, name) => (uses.has(name) ? refuse : name === Symbol.toPrimitive ? () => '' : described),
  apply: () => described,
});

export const z = described;
