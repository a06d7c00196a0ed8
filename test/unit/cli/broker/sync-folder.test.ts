import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { syncFolder } from '../../../../services/cli/broker/sync-folder.ts';

const folderWith = async (...files: readonly string[]): Promise<string> => {
  const above = await mkdtemp(join(tmpdir(), 'natter-sync-'));
  onTestFinished(() => rm(above, { recursive: true }));
  for (const file of files) {
    await mkdir(dirname(join(above, 'broker', file)), { recursive: true });
    await writeFile(join(above, 'broker', file), 'x');
  }
  return join(above, 'broker');
};

test('every file is synced before its folder, every folder before the one above, up to the two above it all', async () => {
  const folder = await folderWith('lock', 'store/A/meta.inf', 'store/A/meta.sum', 'store/B/msgs/1.blk');
  const order: string[] = [];
  await syncFolder(folder, async (path) => void order.push(path));
  const all = [
    'lock',
    'store',
    'store/A',
    'store/A/meta.inf',
    'store/A/meta.sum',
    'store/B',
    'store/B/msgs',
    'store/B/msgs/1.blk',
  ];
  const above = [folder, dirname(folder), dirname(dirname(folder))];
  expect(order.toSorted()).toEqual([...all.map((path) => join(folder, path)), ...above].toSorted());
  for (const path of order.slice(0, -1)) expect(order.indexOf(dirname(path)), path).toBeGreaterThan(order.indexOf(path));
});

test('the real sync takes files and folders, and what is gone meanwhile', async () => {
  const folder = await folderWith('store/A/meta.inf');
  await expect(syncFolder(folder)).resolves.toBeUndefined();
  await expect(syncFolder(join(folder, 'gone'))).resolves.toBeUndefined();
});
