import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { citingPartsOf, unresolvedIn } from '../features/citations.ts';
import { found, importsOf, inAnyText, product, type Rule, read, root, tests, written } from './project.ts';

/** The architecture and the style as a test. Each rule comes with a text that breaks it, so that the rule is known to work. */

const documents = written.filter((path) => path.endsWith('.md'));

/** Helpers that only compute. */
const pureKit =
  /^shared\/kit\/(process\/environment|text\/[a-z-]+|assert|comparison|errors|limits|one-line|token-estimate|or-quarantined|scrub)\.ts$/;
const pure =
  /^shared\/(domain|wire)\/|^services\/session\/prompt\/(conversation|conversation-message-list|prune|running-turn)\.ts$/;
/** The terminal is a way out that only the process at the terminal can build. */
const arrowsByName = new Set(['services/cli/runtime/system.ts services/delivery/outlets/terminal.ts']);
const serviceOf = (path: string): string | undefined => /^services\/([^/]+)\//.exec(path)?.[1];
const arrow = (path: string, text: string): string[] =>
  importsOf(path, text).flatMap(({ from }) => {
    const [here, there] = [serviceOf(path), serviceOf(from)];
    const allowed =
      there === here || (here === 'cli' && from === `services/${there}/main.ts`) || arrowsByName.has(`${path} ${from}`);
    return there === undefined || allowed ? [] : [`imports ${from}`];
  });

/** What computes in `node:crypto`, without chance. */
const computing = new Set(['', 'createHash', 'hash', 'createPrivateKey', 'createPublicKey', 'sign', 'type', 'KeyObject']);
const pureImport = (path: string, text: string): string[] =>
  importsOf(path, text).flatMap(({ from, typeOnly, names }) => {
    if (['xstate', 'zod', 'msgpackr', 'temporal-polyfill', 'fuzzysort', 'json5', 'node:path'].includes(from) || pure.test(from))
      return [];
    if (from === 'node:crypto' && names.split(/[{},\s]+/).every((name) => computing.has(name))) return [];
    if (pureKit.test(from)) return [];
    if (typeOnly && from.startsWith('shared/')) return [];
    return [`imports ${from}`];
  });

const sizeLimit = 250;

const rules: readonly Rule[] = [
  {
    name: 'shared never imports a service, and a service no other, but the cli the main.ts of any',
    in: product,
    check: arrow,
    bad: ['services/router/main.ts', "import { host } from '../session/host.ts';"],
  },
  {
    name: 'pure folders import only each other, types, and the libraries that compute',
    in: product.filter((path) => pure.test(path)),
    check: pureImport,
    bad: ['shared/domain/session/decide/turn.ts', "import { readFile } from 'node:fs/promises';"],
  },
  {
    name: 'pure folders have no clock, chance, environment, timer or network',
    in: product.filter((path) => pure.test(path)),
    check: found(
      /\b(Date\.now|Math\.random|new Date\(\)|performance\.|process\.|setTimeout|setInterval|setImmediate|queueMicrotask|fetch\(|crypto\.random)/g,
    ),
    bad: ['shared/domain/session/decide/turn.ts', 'const at = Date.now();'],
  },
  {
    name: 'only composition roots read the environment of the process',
    in: product.filter((path) => !/^services\/([^/]+\/main\.ts|cli\/)/.test(path)),
    check: found(/\bprocess\.env\b|from 'node:process'/g),
    bad: ['services/router/route.ts', 'const url = process.env.NATS_URL;'],
  },
  {
    name: 'subjects are made in shared/wire only',
    in: product.filter((path) => !/^shared\/wire\/(subjects|topology|grants|rights|probes)\.ts$/.test(path)),
    check: found(
      /['"`](natter|\$\{[\w.]*prefix\})\.(command|event|inbound|inbound-timer|timer|delivery|dead|live|stored)\b|\$KV\./g,
    ),
    bad: ['services/router/main.ts', "const subject = 'natter.command.main';"],
  },
  {
    name: `no file is longer than ${sizeLimit} lines`,
    in: product,
    check: (_, text) => (text.split('\n').length - 1 > sizeLimit ? [`${text.split('\n').length - 1} lines`] : []),
    bad: ['shared/x.ts', '\n'.repeat(sizeLimit + 1)],
  },
  {
    name: 'nothing is left to do',
    in: written,
    check: inAnyText(/\b(TODO|FIXME|XXX)\b/g),
    bad: ['shared/x.ts', '// TODO: later'],
  },
  {
    name: 'a rule, invariant, failure mode or decision record that is cited is in the documents, and nothing else is cited',
    in: [...product, ...tests.filter((path) => path !== 'test/unit/project/features.test.ts'), ...documents],
    check: (path, text) => citingPartsOf(path, text).flatMap(unresolvedIn),
    bad: ['shared/x.ts', '/** As in B99, not B21. */'],
  },
  {
    name: 'no test runs alone',
    in: tests,
    check: found(/\b(test|it|describe)\.only\b/g),
    bad: ['test/x.test.ts', "test.only('x', () => {});"],
  },
  {
    name: 'a test that is left out says why on the line above',
    in: tests,
    check: (_, text) =>
      text
        .split('\n')
        .flatMap((line, index, lines) =>
          /\b(test|it|describe)\.(skip|todo)\b/.test(line) && !/\/\//.test(lines[index - 1] ?? '') ? [line.trim()] : [],
        ),
    bad: ['test/x.test.ts', "\ntest.skip('x', () => {});"],
  },
  {
    name: 'the type any is not used',
    in: product,
    check: (path, text) => found(/(:\s*any\b|\bas any\b|<any\b|\bany\[\])/g)(path, text.replaceAll(/'[^'\n]*'/g, "''")),
    bad: ['shared/x.ts', 'const x = y as any;'],
  },
  {
    name: 'no file names a path of the machine it was written on, or the host of a package registry',
    in: written,
    check: (_, text) => [
      ...(text.includes(root.replace(/\/$/, '')) ? ['the path of this checkout'] : []),
      ...[...text.matchAll(/(^|[\s'"`(=])\/(home|Users|root)\/\w+|\bregistry\.[\w-]+\.(org|com|io)\b/g)].map(([match]) =>
        match.trim(),
      ),
    ],
    bad: ['docs/x.md', `see ${root}notes.md`],
  },
];

describe('every file keeps the rules', () => {
  test.each(rules.map((rule) => [rule.name, rule] as const))('%s', (_, { in: where, check, bad }) => {
    expect(where.length, 'files the rule is about').toBeGreaterThan(0);
    expect(check(...bad), 'the rule finds what breaks it').not.toEqual([]);
    expect(where.flatMap((path) => check(path, read(path)).map((what) => `${path}: ${what}`))).toEqual([]);
  });

  test('files from 200 lines on are worth a look', () => {
    const lines = product.map((path) => [read(path).split('\n').length - 1, path] as const).filter(([count]) => count >= 200);
    if (lines.length > 0) console.info(lines.map(([count, path]) => `${count} ${path}`).join('\n'));
  });
});

describe('services', () => {
  test('each has a README of at most eight lines', () => {
    const folders = readdirSync(join(root, 'services'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const bad = folders.filter(({ name }) => {
      const path = `services/${name}/README.md`;
      return !existsSync(join(root, path)) || read(path).trimEnd().split('\n').length > 8;
    });
    expect(bad.map(({ name }) => name)).toEqual([]);
  });
});

describe('limits', () => {
  const names = [...read('shared/kit/limits.ts').matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name);
  const unused = (limit: string, among: readonly string[]) =>
    !among.some((text) => new RegExp(`\\blimits\\.${limit}\\b`).test(text));

  test('each is used', () => {
    const texts = product.filter((path) => path !== 'shared/kit/limits.ts').map(read);
    expect(names.length).toBeGreaterThan(10);
    expect(unused('queuedTurns', ['limits.queuedTurnsNot'])).toBe(true);
    expect(names.filter((name) => unused(name, texts))).toEqual([]);
  });
});

describe('codes', () => {
  /** The members of a union of string literals, by the name of the type. */
  const membersOf = (path: string, name: string): string[] =>
    [...(new RegExp(`type ${name} =([^;]*);`).exec(read(path))?.[1] ?? '').matchAll(/'([a-z_]+)'/g)].map(([, code = '']) => code);
  const refused = [
    ...(/'message_refused'[\s\S]*?code: z\.enum\(\[(.*?)\]/.exec(read('shared/domain/session/events.ts'))?.[1] ?? '').matchAll(
      /'([a-z_]+)'/g,
    ),
  ].map(([, code = '']) => code);
  const failed = product
    .filter((path) => /^(shared\/domain\/session|shared\/adapters\/model|services\/session)\//.test(path))
    .flatMap((path) => [...read(path).matchAll(/(?:failed\(|failing\(\s*view,|kind: 'failed',\s*code:)\s*'([a-z_]+)'/g)])
    .map(([, code = '']) => code);
  const codes = {
    'Failures of a call': membersOf('shared/kit/errors.ts', 'ErrorCode'),
    'Refusals of a command': membersOf('shared/domain/session/decide/decision.ts', 'RefusalCode'),
    'Refused messages': refused,
    'Failed turns': [...new Set([...failed, ...membersOf('shared/adapters/model/trouble.ts', 'TroubleCode')])],
  };
  /** The codes in the table under a heading of docs/integrate/errors.md. */
  const documented = (heading: string): string[] => {
    const section =
      read('docs/integrate/errors.md')
        .split(/^## /m)
        .find((part) => part.startsWith(heading)) ?? '';
    return [...section.matchAll(/^\| `([a-z_]+)` /gm)].map(([, code = '']) => code);
  };

  test.each(Object.entries(codes))('%s: docs/integrate/errors.md has each code, and no other', (heading, expected) => {
    expect(expected.length).toBeGreaterThan(0);
    expect(documented(heading).sort()).toEqual([...expected].sort());
  });
});
