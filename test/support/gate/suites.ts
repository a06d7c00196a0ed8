import { readdirSync, readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Which files run how: `vitest.config.ts`. */

const root = new URL('../../..', import.meta.url).pathname;
const needsProcess = /^(vi\.(mock|doMock)|setFlagsFromString)\(/m;
const testFiles = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => ({ path: `test/${path}`, text: readFileSync(`${root}test/${path}`, 'utf8') }));
const filesWhere = (applies: (text: string, path: string) => boolean): string[] =>
  testFiles.filter(({ text, path }) => applies(text, path)).map(({ path }) => path);

/** The longest time that a file gives one of its tests or hooks, in milliseconds; 0: the usual. */
const longestTimeout = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/(?:\}, |timeout: )(\d{2,3})_000\b/g)].map(([, seconds]) => Number(seconds) * 1_000));

/**
 * Test files that put something in the place of a module, or collect garbage. They need modules or a heap of their own, so each runs in a process
 * of its own.
 */
export const mocking = filesWhere((text) => needsProcess.test(text));

/** Test files of whole systems that give a test more time than usual: they start many processes, which compute. */
export const heavy = filesWhere((text, path) => /^test\/(contract|e2e)\//.test(path) && longestTimeout(text) > 90_000);

/** Longer than any timeout. */
const overall = 1e9;
/** Files of many tests that take half a minute and more together, though no test of theirs needs a long time. */
const longInAll = [
  'contract/work-queue/work-queue',
  'contract/provision',
  'contract/caches/',
  'contract/event-log/',
  'e2e/gateway/access/',
];

/**
 * The files that may take longest start first, so that at the end no worker is left alone with one: those above, then by the time that a file
 * gives its tests.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const estimates = new Map(
      files.map((file) => {
        const isLong = longInAll.some((path) => file.moduleId.includes(`/test/${path}`));
        return [file, isLong ? overall : longestTimeout(readFileSync(file.moduleId, 'utf8'))];
      }),
    );
    const estimateOf = (file: TestSpecification): number => estimates.get(file) ?? 0;
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    return sorted.sort(
      (one, other) =>
        groupOf(one) - groupOf(other) ||
        one.project.name.localeCompare(other.project.name) ||
        estimateOf(other) - estimateOf(one),
    );
  }
}
