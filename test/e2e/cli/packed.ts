import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { x as extract } from 'tar';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface Packed {
  /** The command `natter` as a user of the package has it: a file that is run by its name. */
  readonly natter: string;
  remove(): void;
}

/** What `npm pack` packs of the build that is there, installed in a folder of its own, with this project's copy of what it depends on. */
export const installPacked = async (): Promise<Packed> => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-packed-'));
  const packing = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const file = execFileSync('npm', packing, { cwd: root, encoding: 'utf8' }).trim();
  const installed = join(folder, 'natter');
  mkdirSync(installed);
  await extract({ file: join(folder, file), cwd: installed, strip: 1 });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { bin: { natter: string } };
  const natter = join(installed, manifest.bin.natter);
  // As npm does when it installs a command.
  chmodSync(natter, 0o755);
  return { natter, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
