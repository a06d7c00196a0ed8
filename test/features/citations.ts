import { type Section, sections } from './features.ts';

/**
 * Which tests cite which feature. The rule, simple and checkable by eye: a citation counts when it stands in a string of a test file, as
 * every title and every row of a table is one; what is in a comment or belongs to a test that is left out does not count. A citation is
 * `A4/45`, a list `A4/45, 46`, a range `A10/101-113`, or a list of those; a citation of a feature that does not exist is an error.
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
  /** Citations of what is not there, as `file:line: A4/99`. */
  readonly wrong: readonly string[];
}

export const idsOf = ({ name, first, features }: Section): string[] => features.map((_, index) => `${name}/${first + index}`);
/** The features of a section that are to be tested. */
export const dueIn = (section: Section): string[] => {
  const { later, first } = section;
  return later === true ? [] : idsOf(section).filter((_, index) => !later?.includes(first + index));
};
const known: ReadonlySet<string> = new Set(sections.flatMap(idsOf));

/** Comments, so that they can be passed over, and strings. */
const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;
const leftOut = /\.(skip|todo)(\.\w+)*\(\s*$/;
const cited = /\b(A\d+)\/(\d+(?:[-–]\d+)?(?:, ?\d+(?:[-–]\d+)?)*)(?![\w/])/g;

/** Every feature a text cites: `A4/45, 47-49` is four. */
export const featuresIn = (text: string): string[] =>
  [...text.matchAll(cited)].flatMap(([, section = '', list = '']) =>
    list.split(/, ?/).flatMap((part) => {
      const [from = 0, to = from] = part.split(/[-–]/).map(Number);
      return Array.from({ length: Math.min(Math.max(to - from, 0), known.size) + 1 }, (_, step) => `${section}/${from + step}`);
    }),
  );

/** The citations of test files, given as path and text. */
export const citationsIn = (files: readonly (readonly [path: string, text: string])[]): Citations => {
  const found = new Map<string, Citation[]>();
  const wrong: string[] = [];
  for (const [file, text] of files)
    for (const { 0: part, index } of text.matchAll(token)) {
      if (part.startsWith('/') || leftOut.test(text.slice(0, index))) continue;
      for (const feature of new Set(featuresIn(part))) {
        const line = text.slice(0, index).split('\n').length;
        if (known.has(feature)) found.set(feature, [...(found.get(feature) ?? []), { file, line, title: part.slice(1, -1) }]);
        else wrong.push(`${file}:${line}: ${feature}`);
      }
    }
  return { found, wrong };
};

/** Features that no test cites, without those that are for later. */
export const uncited = ({ found }: Citations): string[] => sections.flatMap(dueIn).filter((feature) => !found.has(feature));
