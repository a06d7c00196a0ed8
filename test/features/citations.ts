import { numbers, type Section, sections } from './features.ts';

/**
 * Which tests cite which feature. The rule, simple and checkable by eye: a citation counts when it stands in a string of a test file, as
 * every title and every row of a table is one; what is in a comment or belongs to a test that is left out does not count. A citation is
 * `A4/45`, a list `A4/45, 46`, a range `A10/101-113`, or a list of those; a citation of a feature that is not there is an error.
 */
export interface Citation {
  readonly file: string;
  readonly line: number;
  /** The string it stands in. */
  readonly title: string;
}
export interface Citations {
  /** By `A4/45`. */
  readonly found: ReadonlyMap<string, readonly Citation[]>;
  /** Citations of what is not there, as `file:line: <citation>`. */
  readonly wrong: readonly string[];
}

/** The features of a section that are to be tested. */
export const dueIn = ({ rules }: Section): string[] => rules.filter(({ missing }) => !missing?.all).map(({ id }) => id);

/** Comments, so that they can be passed over, and strings. */
const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;
const leftOut = /\.(skip|todo)(\.\w+)*\(\s*$/;
const cited = /\b(A\d+)\/(\d+(?:[-–]\d+)?(?:, ?\d+(?:[-–]\d+)?)*)(?![\w/])/g;
/** A whole section, a rule of another part, an invariant, a failure mode or a decision record: `A4`, `B21`, `I6`, `F16`, `ADR 9`. */
const citedAlone = /(?<![\w%#/.$-])(?:[ABCDFI][1-9]\d?(?![\w/])|ADR \d+)|(?<=\b[BCDFI]\d{1,2}[-–])[BCDFI][1-9]\d?(?!\w)/g;
/** What leads nowhere: sections of other papers and numbered ideas. */
const foreign = /\u00a7|\bideas? \d+|\breliability row/g;

/** Every feature a text cites: `A4/45, 47-49` is four. */
export const featuresIn = (text: string): string[] =>
  [...text.matchAll(cited)].flatMap(([, section = '', list = '']) =>
    list.split(/, ?/).flatMap((part) => {
      const [from = 0, to = from] = part.split(/[-–]/).map(Number);
      return Array.from({ length: Math.min(Math.max(to - from, 0), numbers.size) + 1 }, (_, step) => `${section}/${from + step}`);
    }),
  );

/** What a text cites that no document has. */
export const unresolvedIn = (text: string): string[] => {
  const alone = [...text.matchAll(citedAlone)].map(([id]) => id);
  const unknown = [...featuresIn(text), ...alone].filter((id) => !numbers.has(id));
  return [...unknown, ...[...text.matchAll(foreign)].map(([words]) => words)];
};

/** A document without its code. */
const prose = (text: string): string => text.replaceAll(/^ *(`{3,})[\s\S]*?^ *\1/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Where a file cites: a document but in its code, a source file in comments, a test in strings too. */
export const citingPartsOf = (path: string, text: string): string[] => {
  if (path.endsWith('.md')) return [prose(text)];
  return [...text.matchAll(token)].map(([part]) => part).filter((part) => part.startsWith('/') || path.startsWith('test/'));
};

/** The citations of test files, given as path and text. */
export const citationsIn = (files: readonly (readonly [path: string, text: string])[]): Citations => {
  const found = new Map<string, Citation[]>();
  const wrong: string[] = [];
  for (const [file, text] of files)
    for (const { 0: part, index } of text.matchAll(token)) {
      if (part.startsWith('/') || leftOut.test(text.slice(0, index))) continue;
      for (const feature of new Set(featuresIn(part))) {
        const line = text.slice(0, index).split('\n').length;
        if (numbers.has(feature)) found.set(feature, [...(found.get(feature) ?? []), { file, line, title: part.slice(1, -1) }]);
        else wrong.push(`${file}:${line}: ${feature}`);
      }
    }
  return { found, wrong };
};

/** Features that no test cites, without those that are not built yet. */
export const uncited = ({ found }: Citations): string[] => sections.flatMap(dueIn).filter((feature) => !found.has(feature));
