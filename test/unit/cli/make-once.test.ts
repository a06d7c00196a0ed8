import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeUsers } from '../../../services/cli/broker/users.ts';
import { installationIn } from '../../../services/cli/installation.ts';
import { snapshotKeyFor } from '../../../services/cli/runtime/snapshot-key.ts';

/** What happens to files, in order: `write` alone may be lost in a power cut, `flush` not. */
const done: string[] = [];
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  return {
    ...real,
    writeFileSync: (...given: Parameters<typeof real.writeFileSync>) => {
      done.push(typeof given[2] === 'object' && given[2]?.flush === true ? 'flush' : 'write');
      real.writeFileSync(...given);
    },
    linkSync: (...given: Parameters<typeof real.linkSync>) => {
      done.push('link');
      real.linkSync(...given);
    },
  };
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'natter-once-'));
  done.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('F13: a secret that is made once is on the disk before it has its name', () => {
  test('the key of snapshots', () => {
    const { snapshotKey } = snapshotKeyFor({ nats: {} } as never, installationIn(folder));
    expect(snapshotKey).toBeDefined();
    expect(done).toEqual(['flush', 'link']);
  });

  test('the seed of each user of the broker', () => {
    makeUsers(folder, ['irc']);
    expect(done.length).toBeGreaterThan(2);
    expect(new Set(done.filter((_, index) => index % 2 === 0))).toEqual(new Set(['flush']));
    expect(new Set(done.filter((_, index) => index % 2 === 1))).toEqual(new Set(['link']));
  });

  test('one that is there stays', () => {
    const { snapshotKey } = installationIn(folder);
    const first = snapshotKey(() => 'first');
    expect(first).toBe('first');
    expect(snapshotKey(() => 'second')).toBe('first');
    expect(readFileSync(join(folder, 'snapshot-key.pem'), 'utf8')).toBe('first');
  });

  test('an empty key, which an older version left after a power cut, is named with the fix', () => {
    const path = join(folder, 'snapshot-key.pem');
    writeFileSync(path, '');
    expect(() => snapshotKeyFor({ nats: {} } as never, installationIn(folder))).toThrow(
      new RegExp(`^${path}: not an Ed25519 key in PEM: .*; remove it: a new key is made`, 'u'),
    );
  });
});
