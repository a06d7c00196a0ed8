import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, token } from '../gateway/setup.ts';

/** `natter/client` as another project has it: the files of the package, built, by the name that it exports. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  files: string[];
  exports: { './client': { types: string; import: string } };
};
const project = mkdtempSync(join(tmpdir(), 'natter-client-'));
const installed = join(project, 'node_modules/natter');
const tsc = (...args: string[]) => spawnSync(join(root, 'node_modules/.bin/tsc'), args, { cwd: root, encoding: 'utf8' });
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
};

beforeAll(() => {
  // What prepack makes, of the client alone.
  const made = tsc('-p', 'tsconfig.client.json', '--emitDeclarationOnly', 'false', '--outDir', join(installed, 'dist'));
  expect(made.stdout).toBe('');
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest));
  for (const name of ['eventsource-parser', 'zod', 'xstate'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  write('package.json', '{"type": "module"}');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

test('the package has the built client and its types', () => {
  for (const path of Object.values(manifest.exports['./client'])) {
    expect(manifest.files.some((folder) => path.startsWith(`./${folder}/`))).toBe(true);
    expect(readFileSync(join(installed, path), 'utf8')).toContain('createClient');
  }
});

test('another project talks to a gateway with it', async () => {
  const { gateway } = await startWorld();
  write(
    'main.js',
    `import { createClient } from 'natter/client';
const client = createClient({ url: process.argv[2], token: process.argv[3] });
const { runId } = await client.sessions.post('main', 'hello');
console.log((await client.runs.wait('main', runId)).reply);`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(project, 'main.js'), gateway.url, token]);
  expect(stdout).toBe('you said: hello\n');
});

describe('the types', () => {
  const options = { target: 'ES2022', strict: true, noEmit: true, types: [] };
  const program = `import { createClient, NatterApiError } from 'natter/client';
const client = createClient({ url: 'http://localhost', token: () => 'secret', WebSocket });
for await (const event of client.events({ key: 'main', after: 0, live: true })) {
  if (event.type === 'assistant_message') console.log(event.text.length, event.id);
  if (event.type === 'delta') console.log(event.offset + 1);
  // @ts-expect-error
  if (event.type === 'no_such_event') console.log();
}
const run = await client.sessions.post('main', 'hello', { wait: 5 });
if (run.status === 'error') console.log(run.error.code);
// @ts-expect-error
client.sessions.get(5);
console.log((await client.sessions.get('main')).totalTokens, NatterApiError);
`;

  test.each([
    ['a browser, by a bundler', { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'] }],
    ['Node', { module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['ES2022', 'DOM'] }],
  ])('are sound in a project for %s', (_, more) => {
    write('main.ts', program);
    write('tsconfig.json', JSON.stringify({ compilerOptions: { ...options, ...more }, include: ['main.ts'] }));
    expect(tsc('-p', project).stdout).toBe('');
  });
});
