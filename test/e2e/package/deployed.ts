import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { testBinary } from '../../support/nats.ts';

/** The files of docs/examples/deploy, without containers: what they start is started as a process. Folders of the image are folders of a test. */

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const deployFile = (name: string): string => join(root, 'docs/examples/deploy', name);
export const read = (name: string): string => readFileSync(deployFile(name), 'utf8');
export const compose = (name: string) =>
  parse(read(name), { merge: true }) as {
    services: Record<string, Record<string, any>>;
    volumes: object;
    configs: Record<string, { file: string }>;
  };

/** The instructions of the last stage of a Dockerfile, in their order. */
const instructionsOf = (text: string): [name: string, rest: string][] => {
  const all = [...text.matchAll(/^([A-Z]+) +(.+)$/gm)].map(([, name = '', rest = '']): [string, string] => [name, rest]);
  return all.slice(all.findLastIndex(([name]) => name === 'FROM'));
};
const image = instructionsOf(read('Dockerfile'));
export const said = (name: string): string[] => image.filter(([each]) => each === name).map(([, rest]) => rest);
const listIn = (text = ''): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];
export const variables = Object.fromEntries(said('ENV').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
export const probe = listIn(said('HEALTHCHECK')[0]);
export const program = [...listIn(said('ENTRYPOINT')[0]), ...listIn(said('CMD')[0])];
export const port = Number(said('EXPOSE')[0]);

/** What a container has of the machine: nothing but its folders can be written, and no rights are left. `$0`: the folders. */
const confinement = [
  'mount --make-rprivate /',
  'for folder in $0; do mount --bind "$folder" "$folder"; done',
  'for place in $(findmnt -rno TARGET); do case " $0 " in *" $place "*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null || :;; esac; done',
  'exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"',
].join('\n');
const ownRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
const confining = [...ownRoot, '--mount', 'sh', '-ec', confinement];
/** Some machines, and most containers, let nobody make a root of their own. Processes run without one there. */
export const canConfine = spawnSync('unshare', [...confining, tmpdir(), 'true']).status === 0;
const confined = (folders: readonly string[], [program = '', ...args]: readonly string[]): [command: string, args: string[]] =>
  canConfine ? ['unshare', [...confining, folders.join(' '), program, ...args]] : [program, args];

/** A place with the programs of the image on a path, where processes of its containers run; it ends them. */
export const openPlace = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-deploy-'));
  const processes: ChildProcess[] = [];
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const main = join(root, 'dist/services/cli/main.js');
  const natter = join(bin, 'natter');
  writeFileSync(natter, `#!/bin/sh\nexec node ${main} "$@"\n`);
  chmodSync(natter, 0o755);
  symlinkSync((await testBinary()).path, join(bin, 'nats-server'));
  const path = { PATH: `${bin}:${process.env.PATH}` };
  return {
    folder,
    natter,
    path,
    /** Makes the folder of a container's volume, and one for its temporary files. */
    container: (name: string) => {
      const [data, temporary] = [join(folder, name, 'data'), join(folder, name, 'tmp')];
      for (const each of [data, temporary]) mkdirSync(each, { recursive: true });
      const run = (env: Readonly<Record<string, string>>, words: readonly string[]): ChildProcess => {
        const [command, args] = confined([data, temporary], words);
        const started = spawn(command, args, {
          env: { ...env, ...path, TMPDIR: temporary },
          cwd: folder,
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        processes.push(started);
        return started;
      };
      /** Whether a file can be written there by such a process. */
      const mayWrite = (where: string): boolean => {
        const [command, args] = confined([data, temporary], ['touch', join(where, 'written')]);
        return spawnSync(command, args, { env: path }).status === 0;
      };
      return { data, temporary, run, mayWrite };
    },
    close: async () => {
      for (const each of processes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
        each.kill('SIGKILL');
        await once(each, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
