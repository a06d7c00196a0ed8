import { type Document, isScalar, parseDocument, visit } from 'yaml';
import { errorMessage, NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import { quoted } from '../../kit/one-line.ts';
import { plainFields } from './plain-lines.ts';

/** The front matter of a `SKILL.md`, and the instructions below it (A15/142). */
export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Splits a `SKILL.md`. Throws `invalid`. The front matter is only parsed as YAML, never executed (A15/173). */
export const frontMatterOf = (text: string): FrontMatter => {
  const plain = text.replace(/^\ufeff/, '');
  const first = plain.indexOf('\n');
  const opening = (first === -1 ? plain : plain.slice(0, first)).replace(/\r$/, '');
  if (/^---\s*\S/.test(opening)) throw unusable(`begins with "${opening.slice(0, 20)}"; only YAML between "---" lines is read`);
  if (opening.trimEnd() !== '---') throw unusable('has no front matter; begin with "---", "name:", "description:" and "---"');
  // The text below may be long and is not parsed.
  const end = first === -1 ? null : closing.exec(plain.slice(first));
  if (end === null) throw unusable('has unterminated front matter; close it with a line "---"');
  const from = first + end.index + end[0].length;
  return {
    fields: fieldsIn(inLines(plain.slice(first + 1, first + end.index + 1)).replace(/\n$/, '')),
    body: inLines(plain.slice(from)).trim(),
  };
};

const closing = /\n---[^\S\n]*(?:\n|$)/;
const inLines = (text: string): string => text.replaceAll('\r\n', '\n');

const unusable = (problem: string): NatterError => new NatterError('invalid', `SKILL.md ${problem}`);

const fieldsIn = (source: string): FrontMatter['fields'] => {
  if (Buffer.byteLength(source) > limits.skillFrontMatterBytes) {
    throw unusable(`has more than ${limits.skillFrontMatterBytes} bytes of front matter; make it shorter`);
  }
  return plainFields(source) ?? parsedYaml(source);
};

/**
 * No aliases, which could grow without bound, no tags and no second document. Leading tabs of pasted JSON count as spaces
 * (A15/151).
 */
const parsedYaml = (source: string): FrontMatter['fields'] => {
  const document = parseDocument(
    source.replaceAll(/^\t+/gm, (tabs) => '  '.repeat(tabs.length)),
    // The check would compare each key with all others.
    { prettyErrors: false, uniqueKeys: false },
  );
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw unusable(`has front matter that is not plain YAML: ${problem.message}; put texts with ": " in quotes`);
  refuseTwice(document);
  const fields = plainValue(() => document.toJS({ maxAliasCount: 0 }));
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw unusable('has no fields in its front matter');
  return fields as Record<string, unknown>;
};

const refuseTwice = (document: Document): void => {
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (names.has(name)) throw unusable(`has front matter that is not plain YAML: ${quoted(String(name))} occurs twice`);
        names.add(name);
      }
    },
  });
};

const plainValue = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    throw unusable(`has front matter that is not plain YAML: ${errorMessage(error)}; write values out instead of "&" and "*"`);
  }
};
