import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bucketNames, streamNames } from '../../shared/wire/topology.ts';
import { brokenLinks, diagramsOf, longLines, nodesOf } from '../support/docs/markdown.ts';

/** The documents as a test: what they name exists, and what they draw is how it is. Each rule comes with a text that breaks it. */
const root = new URL('../..', import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => statSync(join(root, path)).isFile());

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'services'].flatMap(filesIn).filter((path) => path.endsWith('.md')),
];
const isGenerated = (path: string): boolean => read(path).startsWith('<!-- Generated');
const handWritten = pages.filter((path) => !isGenerated(path));
const sources = ['shared', 'services', 'test'].flatMap(filesIn).filter((path) => /\.(ts|mjs)$/.test(path));

describe('pages', () => {
  test('each relative link leads to a file, and to a heading that is there', () => {
    expect(pages.length).toBeGreaterThan(30);
    const bad = '[x](no-such-page.md) [y](#no-such-heading) `[z](code)` [a][b] [c][d]\n\n[d]: no-such-page.md\n';
    expect(brokenLinks(root, 'docs/README.md', bad)).toHaveLength(4);
    expect(pages.flatMap((path) => brokenLinks(root, path, read(path)).map((what) => `${path}: ${what}`))).toEqual([]);
  });

  /** Cards of eight lines, one for each service, and a page that is being rewritten. */
  const wide = (path: string): boolean => path.startsWith('services/') || path === 'docs/integrate/http-api.md';
  test('prose wraps at 120 characters', () => {
    expect(longLines(`${'long '.repeat(30)}\n| ${'cell '.repeat(30)}|\n\`\`\`\n${'code '.repeat(30)}\n\`\`\``, 120)).toHaveLength(
      1,
    );
    const wrapped = handWritten.filter((path) => !wide(path));
    expect(wrapped.flatMap((path) => longLines(read(path), 120).map((line) => `${path}: ${line}`))).toEqual([]);
  });

  /** Paths of the project in backticks; `*` and `<…>` stand for names. */
  const missingPaths = (text: string): string[] =>
    [...text.matchAll(/`((?:shared|services|test|docs)\/[\w./-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(root, path)));
  test('each path of the project in backticks exists', () => {
    expect(missingPaths('`shared/no-such-folder` and `docs/README.md`')).toEqual(['shared/no-such-folder']);
    expect(handWritten.flatMap((path) => missingPaths(read(path)).map((missing) => `${path}: ${missing}`))).toEqual([]);
  });

  const missingPages = (text: string): string[] =>
    [...text.matchAll(/\bdocs\/[\w/-]+\.(?:md|json|yaml)\b/g)]
      .map(([page]) => page)
      .filter((page) => !existsSync(join(root, page)));
  test('each page that the code names exists', () => {
    expect(missingPages('see docs/no-such-page.md')).toEqual(['docs/no-such-page.md']);
    const among = sources.filter((path) => !/^test\/tidy\//.test(path));
    expect(among.flatMap((path) => missingPages(read(path)).map((page) => `${path}: ${page}`))).toEqual([]);
  });

  test.each(['README.md', 'docs/README.md'])('%s tells whoever has only a clone how to run a command', (path) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts).toHaveProperty('natter');
    expect(read(path)).toContain('`npm run natter -- ');
  });

  test('the index of docs has every page', () => {
    const index = read('docs/README.md');
    const listed = pages.filter((path) => /^docs\/(?!adr\/0|README)/.test(path)).map((path) => path.slice('docs/'.length));
    expect(listed.filter((path) => !index.includes(`](${path})`))).toEqual([]);
  });
});

describe('decision records', () => {
  const records = readdirSync(join(root, 'docs/adr')).filter((name) => /^\d{4}-.*\.md$/.test(name));

  test('each has a number, a status and a date', () => {
    const head = /^# ADR (\d+): .+\n\nStatus: (accepted|superseded by .+), \d{4}-\d\d-\d\d/;
    expect(head.test('# ADR 1: no status\n\nText.')).toBe(false);
    expect(records.filter((name) => Number(head.exec(read(`docs/adr/${name}`))?.[1]) !== Number(name.slice(0, 4)))).toEqual([]);
  });

  test('the index has each', () => {
    const index = read('docs/adr/README.md');
    expect(records.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });
});

describe('diagrams', () => {
  const streams = Object.values(streamNames('natter'));
  const buckets = Object.values(bucketNames('natter'));
  const services = readdirSync(join(root, 'services'));
  const namesIn = (text: string): string[] => [...text.matchAll(/\b(?:NATTER_[A-Z]+|natter_[a-z]+)\b/g)].map(([name]) => name);
  const wrong = (diagram: string): string[] => [
    ...namesIn(diagram).filter((name) => !streams.includes(name) && !buckets.includes(name)),
    ...nodesOf(diagram).flatMap(({ id, box }) => (box && !services.includes(id) ? [id] : [])),
  ];

  test.each(['README.md', 'docs/architecture.md'])('%s draws streams, buckets and services that exist', (path) => {
    expect(wrong('flowchart LR\n  postman --> queue[("NATTER_LETTERS")]')).toEqual(['NATTER_LETTERS', 'postman']);
    const diagrams = diagramsOf(read(path));
    expect(diagrams.length).toBeGreaterThan(0);
    expect(diagrams.flatMap(wrong)).toEqual([]);
  });

  test('the architecture leaves out no stream, bucket or service', () => {
    const page = read('docs/architecture.md');
    const drawn = diagramsOf(page)
      .flatMap(nodesOf)
      .flatMap(({ id, box }) => (box ? [id] : []));
    expect(services.filter((name) => name !== 'cli' && !drawn.includes(name))).toEqual([]);
    expect([...streams, ...buckets].filter((name) => !namesIn(page).includes(name))).toEqual([]);
  });
});

describe('the walks of CONTRIBUTING', () => {
  interface Step {
    readonly walk: string;
    readonly path: string;
    readonly name: string;
  }
  const stepsOf = (text: string): Step[] =>
    text.split(/^### /m).flatMap((part) =>
      [...part.matchAll(/^\d+\. `([^`]+)` `([^`]+)`/gm)].map(([, path = '', name = '']) => ({
        walk: part.split('\n')[0] ?? '',
        path,
        name,
      })),
    );
  const wrong = ({ path, name }: Step): boolean => !existsSync(join(root, path)) || !new RegExp(`\\b${name}\\b`).test(read(path));
  const page = read('CONTRIBUTING.md');
  const steps = stepsOf(page);
  const walks = new Set(steps.map(({ walk }) => walk));

  test('there are four, each through at most eleven files', () => {
    expect(walks.size).toBe(4);
    expect(steps).toHaveLength([...page.matchAll(/^\d+\. /gm)].length);
    const sizes = [...walks].map((walk) => new Set(steps.filter((step) => step.walk === walk).map(({ path }) => path)).size);
    expect(sizes.filter((size) => size < 5 || size > 11)).toEqual([]);
  });

  test('each step names a file and something that is in it', () => {
    expect(stepsOf('### x\n\n1. `package.json` `noSuchName`: x').filter(wrong)).toHaveLength(1);
    expect(steps.filter(wrong)).toEqual([]);
  });
});
