import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { x as extract } from 'tar';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClient } from '../../../shared/client/main.ts';
import { afterwards, startWorld, token } from '../gateway/setup.ts';

/** `natter/client` as another project has it: what `npm pack` packs, by the name that it exports. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  exports: { './client': { types: string; default: string } };
};
const project = mkdtempSync(join(tmpdir(), 'natter-client-'));
const packed = join(project, 'packed');
const installed = join(project, 'node_modules/natter');
/** A browser's `EventSource` (WHATWG HTML), of the package that the official MCP client uses. */
const eventSource = pathToFileURL(
  createRequire(createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/client/index.js')).resolve('eventsource'),
).href;
const tsc = (...args: string[]) => spawnSync(join(root, 'node_modules/.bin/tsc'), args, { cwd: root, encoding: 'utf8' });
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
};

const install = async (from: string, file: string, to: string): Promise<void> => {
  spawnSync('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: from });
  mkdirSync(to, { recursive: true });
  await extract({ file: join(from, file), cwd: to, strip: 1 });
};

beforeAll(async () => {
  // What prepack makes, of the client alone.
  const made = tsc('-p', 'tsconfig.client.json', '--emitDeclarationOnly', 'false', '--outDir', join(packed, 'dist'));
  expect(made.stdout).toBe('');
  writeFileSync(join(packed, 'package.json'), JSON.stringify(manifest));
  await install(packed, `${manifest.name}-${manifest.version}.tgz`, installed);
  expect(spawnSync(process.execPath, [join(root, 'services/cli/packing/client-package.mjs'), join(packed, 'dist')]).status).toBe(
    0,
  );
  await install(
    join(packed, 'dist/client'),
    `natter-client-${manifest.version}.tgz`,
    join(project, 'node_modules/natter-client'),
  );
  mkdirSync(join(project, 'node_modules/@types'));
  for (const name of ['eventsource-parser', 'zod', 'xstate', 'undici-types', '@types/node'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  write('package.json', '{"type": "module"}');
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

test('the package has the built client and its types', () => {
  for (const path of Object.values(manifest.exports['./client']))
    expect(readFileSync(join(installed, path), 'utf8')).toContain('createClient');
});

test('natter-client is the same by itself, and brings three packages without dependencies: two of them for its types alone', () => {
  const own = join(project, 'node_modules/natter-client');
  const { dependencies, exports } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    exports: { '.': { default: string } };
  };
  expect(Object.keys(dependencies)).toEqual(['eventsource-parser', 'xstate', 'zod']);
  for (const name of Object.keys(dependencies)) {
    const { dependencies: theirs = {} } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    expect(theirs).toEqual({});
  }
  expect(readFileSync(join(own, exports['.'].default), 'utf8')).toBe(
    readFileSync(join(installed, manifest.exports['./client'].default), 'utf8'),
  );
});

test.each(['natter/client', 'natter-client'])('another project talks to a gateway with %s', async (name) => {
  const { gateway } = await startWorld();
  write(
    'main.js',
    `import { createClient } from '${name}';
const client = createClient({ url: process.argv[2], token: process.argv[3] });
const { runId } = await client.sessions.post('main', 'hello');
console.log((await client.runs.wait('main', runId)).reply);`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(project, 'main.js'), gateway.url, token]);
  expect(stdout).toBe('you said: hello\n');
});

test('CommonJS requires it as it is', async () => {
  write('main.cjs', "console.log(typeof require('natter/client').createClient);");
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', join(project, 'main.cjs')]);
  expect(stdout).toBe('function\n');
});

/** Runs a program, with all that it imports, where there is what browsers have and nothing else. */
const browser = `import { readFile } from 'node:fs/promises';
import { createContext, SourceTextModule } from 'node:vm';
const web = ['AbortController', 'AbortSignal', 'Headers', 'Request', 'Response', 'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams',
  'clearInterval', 'clearTimeout', 'crypto', 'fetch', 'performance', 'setInterval', 'setTimeout'];
const context = createContext(Object.fromEntries(web.map((name) => [name, globalThis[name]])));
Object.assign(context, { url: process.argv[2], token: process.argv[3], WebSocket: (await import(process.argv[4])).WebSocket });
const modules = new Map();
const load = async (address) => {
  if (!address.startsWith('file:')) throw new Error('a browser has no ' + address);
  const module = new SourceTextModule(await readFile(new URL(address), 'utf8'), { context, identifier: address });
  return module;
};
const link = (specifier, { identifier }) => {
  const address = specifier.startsWith('.') ? new URL(specifier, identifier).href : import.meta.resolve(specifier);
  if (!modules.has(address)) modules.set(address, load(address));
  return modules.get(address);
};
const main = await load(new URL('page.js', import.meta.url).href);
await main.link(link);
await main.evaluate();
console.log(JSON.stringify(main.namespace.seen));
process.exit();
`;
const page = `import { createClient } from 'natter/client';
export const seen = [typeof process, typeof Buffer, typeof require, typeof global, typeof setImmediate];
const client = createClient({ url, token, WebSocket });
const { reply } = await client.sessions.post('main', 'hello', { wait: 10 });
seen.push(reply);
for await (const event of client.events({ key: 'main', after: 0 })) if (seen.push(event.type) > 7) break;
const connection = await client.connect();
for await (const event of await connection.subscribe({ after: 0 })) if (seen.push(event.type) > 9) break;
connection.close();
await client.get('/v1/nothing').catch(({ code }) => seen.push(code));
`;

test('it runs where there is nothing of Node', async () => {
  const { gateway } = await startWorld();
  write('browser.mjs', browser);
  write('page.js', page);
  const args = ['--experimental-vm-modules', '--no-warnings', join(project, 'browser.mjs'), gateway.url, token];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, import.meta.resolve('ws')]);
  const [first, second] = JSON.parse(stdout).slice(6, 8);
  const nothing = Array.from({ length: 5 }, () => 'undefined');
  expect(JSON.parse(stdout)).toEqual([...nothing, 'you said: hello', first, second, first, second, 'not_found']);
  expect(first).toBe('session_opened');
});

describe('the examples of docs/integrate/client.md', () => {
  const text = readFileSync(join(root, 'docs/integrate/client.md'), 'utf8');
  const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const [first = '', ...others] = blocks;
  const begin = first.slice(0, first.indexOf('const { runId }'));
  const listening = "source.addEventListener('user_message', ({ data }) => console.log(JSON.parse(data).message.text));";

  test.each([
    ['a call', first, 'you said: hello'],
    ['events', `${begin}${others[0]}`, 'you said: hello'],
    ['an EventSource', `${begin}${others[1]}${listening}`, 'hello'],
    ['a WebSocket', `${begin}${others[2]}`, '2.0'],
  ])('%s: runs as it is', async (name, example, said) => {
    const { gateway } = await startWorld();
    await createClient({ url: gateway.url, token }).sessions.post('main', 'hello', { wait: 10 });
    const globals = `globalThis.WebSocket = (await import(${JSON.stringify(import.meta.resolve('ws'))})).WebSocket;
globalThis.EventSource = (await import(${JSON.stringify(eventSource)})).EventSource;
const readToken = () => '${token}';`;
    const file = `${name.replaceAll(' ', '-')}.js`;
    write(file, `${globals}\n${example.replace('http://127.0.0.1:4600', gateway.url)}`);
    const program = spawn(process.execPath, [join(project, file)], { stdio: ['ignore', 'pipe', 'inherit'] });
    afterwards(async () => void program.kill());
    let out = '';
    program.stdout.setEncoding('utf8').on('data', (part: string) => {
      out += part;
    });
    await vi.waitFor(() => expect(out).toContain(said));
  });

  test('are sound, together', () => {
    write('main.ts', `declare const readToken: () => string;\n${blocks.join('')}`);
    const compilerOptions = { ...options, module: 'NodeNext', lib: ['ES2022', 'DOM'], types: ['node'] };
    write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['main.ts'] }));
    expect(tsc('-p', project).stdout).toBe('');
  }, 120_000);
});

const options = { target: 'ES2022', strict: true, noEmit: true, types: [] };
describe('the types', () => {
  const programWith = (name: string, given: string): string => `import { createClient, NatterApiError } from '${name}';
const client = createClient({ url: 'http://localhost', token: () => 'secret', ${given} });
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
    [
      'a browser, by a bundler',
      'natter-client',
      'WebSocket',
      { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'] },
    ],
    ['Node', 'natter/client', 'fetch', { module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['ES2022'], types: ['node'] }],
  ])(
    'are sound in a project for %s',
    (_, name, given, more) => {
      write('main.ts', programWith(name, given));
      write('tsconfig.json', JSON.stringify({ compilerOptions: { ...options, ...more }, include: ['main.ts'] }));
      expect(tsc('-p', project).stdout).toBe('');
    },
    90_000,
  );
});
