// `npm start`, `npm test` and `npm run test:long`: from a fresh clone to a running or tested system, with nothing but Node and npm. Plain JavaScript without
// dependencies, because it runs before they are installed. Each step is skipped when it is already done.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const inRoot = (...parts) => join(root, ...parts);
const tool = (name) => inRoot('node_modules', '.bin', name);
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

const fail = (message) => {
  process.stderr.write(`natter: ${message}\n`);
  process.exit(1);
};

/** Runs a command to its end with our output; its failure is ours. */
const run = (command, args, whatFailed) => {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error || status !== 0) fail(`${whatFailed} (${error?.message ?? signal ?? `exit code ${status}`})`);
};

const step = (text) => process.stdout.write(`\n— ${text}\n`);

const checkNode = () => {
  const needed = readJson(inRoot('package.json')).engines.node.replace('>=', '').split('.').map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return;
  fail(
    `Node ${process.versions.node} is too old: install Node ${needed.join('.')} or newer (24 is recommended) and run this again`,
  );
};

/** True if `node_modules` holds what the lock file says; packages that are optional may be missing (they are for other platforms). */
const installed = () => {
  const record = inRoot('node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const present = readJson(record).packages;
  const wanted = Object.entries(readJson(inRoot('package-lock.json')).packages).filter(([path]) => path !== '');
  return wanted.every(([path, { version, optional }]) => (present[path] ? present[path].version === version : optional === true));
};

const install = () => {
  if (installed()) return;
  step('installing the locked dependencies (npm ci)');
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath;
  // The npm that runs us, if one does. Development packages are needed to build, whatever NODE_ENV says.
  const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  run(command, [...first, ...args], 'npm ci failed: check the network and the registry that npm is set to, then run this again');
};

const sources = (directory) =>
  readdirSync(inRoot(directory), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|css|html|svg)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** A fingerprint of all that goes into the build. */
const fingerprint = () => {
  const hash = createHash('sha256');
  const folders = readJson(inRoot('tsconfig.build.json')).include.filter((folder) => existsSync(inRoot(folder)));
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'].map((file) => inRoot(file));
  for (const file of [...settings, ...folders.flatMap(sources)])
    hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
};

const build = () => {
  const stamp = inRoot('dist', '.fingerprint');
  const current = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current) return;
  step('building');
  run(tool('tsc'), ['-p', 'tsconfig.build.json'], 'the build failed: see the errors above');
  run(tool('vite'), ['build', '--config', 'services/page/vite.config.ts'], 'the build of the page failed: see the errors above');
  writeFileSync(stamp, current);
};

const natter = inRoot('dist', 'services', 'cli', 'main.js');

/** npm starts us through a shell that keeps a SIGTERM to itself: when it is gone, we were meant as well. */
const endWithParent = () => {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
};

const start = async (args) => {
  if (process.env.npm_lifecycle_event !== undefined) endWithParent();
  // In this very process, so that signals and the terminal reach it directly.
  process.argv = [process.execPath, natter, 'up', ...args];
  await import(natter);
};

/** Steps of a check: what it is, and the command. Each says which of how many it is, and how long it took. */
const takeSteps = (steps) => {
  const beganAll = performance.now();
  for (const [index, [title, command, args]] of steps.entries()) {
    const began = performance.now();
    step(`[${index + 1}/${steps.length}] ${title}`);
    run(command, args, `failed at step ${index + 1} of ${steps.length}: ${title}`);
    process.stdout.write(`  passed in ${elapsed(began)}\n`);
  }
  step(`all ${steps.length} steps passed in ${elapsed(beganAll)}`);
};
const elapsed = (began) => {
  const seconds = (performance.now() - began) / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
};

const broker = ['the broker (nats-server)', process.execPath, [natter, 'nats', 'install']];
const test = () =>
  takeSteps([
    broker,
    ['format and lint', tool('biome'), ['check', '--error-on-warnings', '.']],
    ['types', tool('tsc'), ['-p', 'tsconfig.json']],
    ['types of the page', tool('tsc'), ['-p', 'services/page']],
    ['promises and switches', tool('oxlint'), []],
    ['unused code', tool('knip'), []],
    ['tests', tool('vitest'), ['run']],
  ]);

const longSeeds = 5000;
const storeSeeds = 1000;
const longFactor = 20;
const testLong = () => {
  process.env.NATTER_TEST_FACTOR = String(longFactor);
  const simulator = [inRoot('dist', 'test', 'sim', 'main.js'), '--seeds', String(longSeeds)];
  takeSteps([
    [
      `unit tests, with every property tried ${longFactor} times as often as in the gate`,
      tool('vitest'),
      ['run', 'test/unit', 'test/property'],
    ],
    [`simulator: ${longSeeds} seeds instead of the 300 of the gate`, process.execPath, ['--enable-source-maps', ...simulator]],
    ...['damage', 'rollback'].map((fault) => [
      `simulator: ${storeSeeds} seeds with ${fault} of the store instead of the 2 of the gate`,
      process.execPath,
      ['--enable-source-maps', simulator[0], `--${fault}`, '--seeds', String(storeSeeds)],
    ]),
  ]);
};

const verbs = { start, test, 'test-long': testLong, build: () => {} };
const [verb = '', ...args] = process.argv.slice(2);
if (!Object.hasOwn(verbs, verb)) fail(`usage: bootstrap.mjs ${Object.keys(verbs).join('|')}`);
checkNode();
install();
build();
await verbs[verb](args);
