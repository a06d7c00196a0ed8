import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cwd } from 'node:process';

/** The rules of `docs/spec.md`, and the numbers of all that code, tests and documents may cite. */

/** One rule. `missing` is what the document says of a rule that is not built yet, or only in part; else it is built. */
export interface Rule {
  /** `A4/45` or `B21`. */
  readonly id: string;
  readonly text: string;
  readonly missing?: { readonly all: boolean; readonly what: string };
}

/** A section of rules: `A1` to `A15`, `B`, `C` or `D`. */
export interface Section {
  readonly name: string;
  readonly title: string;
  readonly rules: readonly Rule[];
}

const heading = /^## (A\d+|[BCD]) (.+)$/m;
const item = /^- \*\*([A-D]\d+(?:\/\d+)?)\*\* /m;
/** `*Not built yet …*` or `*Partly built: …*` at the end of a rule. */
const state = / \*(Not built yet|Partly built)(?:[:;] ([^*]+))?\.?\*$/;

const ruleOf = (id: string, lines: string): Rule => {
  const text = lines.trim().replaceAll(/\s+/g, ' ');
  const [found, which, what = ''] = state.exec(text) ?? [];
  if (found === undefined) return { id, text };
  return { id, text: text.slice(0, -found.length), missing: { all: which === 'Not built yet', what: what.replace(/\.$/, '') } };
};

/** Parts of a text in pairs: what was captured, and all up to the next match. */
const pairs = ([, ...parts]: readonly string[], size: number): string[][] =>
  Array.from({ length: parts.length / size }, (_, index) => parts.slice(index * size, (index + 1) * size));

/** The sections and rules of a text such as `docs/spec.md`. */
export const sectionsIn = (text: string): Section[] =>
  pairs(text.split(heading), 3).map(([name = '', title = '', body = '']) => {
    const rules = pairs(body.split(/^## /m)[0]?.split(item) ?? [], 2);
    return { name, title, rules: rules.map(([id = '', lines = '']) => ruleOf(id, lines.split(/\n\n/)[0] ?? '')) };
  });

/** The numbers of the invariants and failure modes of a text such as `docs/invariants.md`. */
export const numbersIn = (text: string): string[] => [...text.matchAll(/^### ([IF]\d+) /gm)].map(([, id = '']) => id);

const read = (path: string): string => readFileSync(join(cwd(), path), 'utf8');
const all = sectionsIn(read('docs/spec.md'));

/** Part A: the features that tests are to cite. */
export const sections: readonly Section[] = all.filter(({ name }) => /\d/.test(name));
/** Sections of part A, such as `A4`, rules, invariants, failure modes and decision records, such as `ADR 9`. */
export const numbers: ReadonlySet<string> = new Set([
  ...sections.map(({ name }) => name),
  ...all.flatMap(({ rules }) => rules.map(({ id }) => id)),
  ...numbersIn(read('docs/invariants.md')),
  ...readdirSync(join(cwd(), 'docs/adr')).map((name) => `ADR ${Number.parseInt(name, 10)}`),
]);
