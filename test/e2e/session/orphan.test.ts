import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const program = fileURLToPath(new URL('../../../dist/services/cli/main.js', import.meta.url));

test('a service ends when the process that started it is gone, also if it was still loading its code then', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'natter-orphan-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const env = { ...process.env, NATS_URL: 'nats://127.0.0.1:1', NATTER_DATA_DIR: dataDir };
  const orphan = spawn(process.execPath, [program, 'service', 'session'], { env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  onTestFinished(() => void orphan.kill('SIGKILL'));
  const ended = once(orphan, 'exit');
  orphan.disconnect();
  expect(await ended).toEqual([0, null]);
}, 60_000);
