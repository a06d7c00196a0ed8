import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that have tests in them: suites, and the contracts that they run. */
const withTests = /\.(test|contract|broker)\.ts$/;
/** Its citations are examples. */
const ownTest = join('unit', 'project', 'features.test.ts');

/** Path and text of every test file below `test/` of a checkout. */
export const testFiles = (root: string): (readonly [path: string, text: string])[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => withTests.test(path) && path !== ownTest)
    .sort()
    .map((path) => [`test/${path}`, readFileSync(join(root, 'test', path), 'utf8')] as const);
