import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AptSource, parseAptSources } from './apt-sources.ts';
import type { Fetch } from './install.ts';
import { has, run } from './run.ts';

/**
 * Debian and Ubuntu: the package comes from the distribution's own archive, at the address and with the key this machine already trusts, but
 * from the suite of the day: a stable release has a server that is too old. apt is given folders of its own, so it needs no rights and the
 * system's packages stay as they are; it checks the signatures. About 16 MB.
 */
export const fetchFromApt: Fetch = async ({ folder, progress }) => {
  if (!(await has('apt-get')) || !(await has('dpkg-deb'))) return null;
  const release = parseRelease(await readFile('/etc/os-release', 'utf8').catch(() => ''));
  const suite = newestSuite.get(release.id);
  const source = suite === undefined ? undefined : (await machineSources()).find((one) => isMainArchive(one, release));
  if (suite === undefined || source === undefined) return null;

  for (const line of announced(source, suite)) progress.note(line);
  progress.progress('step 1 of 3: reading the list of packages …');
  const apt = await privateApt(folder, source, suite);
  await run('apt-get', [...apt, 'update'], { folder, timeoutMs: 180_000 });
  progress.progress('step 2 of 3: downloading nats-server …');
  await run('apt-get', [...apt, 'download', 'nats-server'], { folder, timeoutMs: 180_000 });
  progress.progress('step 3 of 3: unpacking nats-server …');
  const packageFile = (await readdir(folder)).find((name) => name.endsWith('.deb'));
  if (packageFile === undefined) throw new Error('apt-get brought no package');
  await run('dpkg-deb', ['-x', packageFile, 'content'], { folder, timeoutMs: 60_000 });
  return join(folder, 'content', 'usr', 'sbin', 'nats-server');
};

const announced = ({ uri }: AptSource, suite: string): string[] => [
  `  about 16 MB from ${uri}, your distribution's own archive (its suite "${suite}", for this program alone);`,
  '  apt checks the signature with the key that this machine trusts already, and none of your packages changes.',
];

/** The suite that has the newest packages, by distribution. */
const newestSuite: ReadonlyMap<string, string> = new Map([
  ['debian', 'sid'],
  ['ubuntu', 'devel'],
]);

interface Release {
  readonly id: string;
  readonly codename: string;
}
const parseRelease = (text: string): Release => {
  const value = (name: string): string => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(text)?.[1] ?? '';
  return { id: value('ID'), codename: value('VERSION_CODENAME') };
};

/** Every enabled source of this machine. */
const machineSources = async (): Promise<AptSource[]> => {
  const parts = await readdir('/etc/apt/sources.list.d').catch(() => []);
  const paths = ['/etc/apt/sources.list', ...parts.filter(isSourceFile).map((name) => join('/etc/apt/sources.list.d', name))];
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => '')));
  return texts.flatMap((text, index) => parseAptSources(paths[index] ?? '', text));
};
const isSourceFile = (name: string): boolean => name.endsWith('.list') || name.endsWith('.sources');

/** The distribution's own archive or a mirror of it: neither a third party's nor the security one, which have no suite of the day. */
const isMainArchive = ({ uri, suites, components, signedBy }: AptSource, { id, codename }: Release): boolean =>
  components.includes('main') &&
  suites.some((suite) => suite === codename || rolling.has(suite)) &&
  (new RegExp(`\\b${id}(-ports)?(\\.list)?/?$`).test(uri) || Boolean(signedBy?.includes(`${id}-archive-keyring`)));
const rolling = new Set(['stable', 'testing', 'unstable', 'sid', 'devel']);

/** Options that turn apt into one with a single source and no memory of the system's. Its proxy and network settings still count. */
const privateApt = async (folder: string, { uri, components, signedBy }: AptSource, suite: string): Promise<string[]> => {
  for (const name of ['lists/partial', 'cache/archives/partial']) await mkdir(join(folder, name), { recursive: true });
  const wanted = components.filter((component) => component === 'main' || component === 'universe').join(' ');
  const fields = [`Types: deb`, `URIs: ${uri}`, `Suites: ${suite}`, `Components: ${wanted}`];
  if (signedBy !== null) fields.push(`Signed-By: ${signedBy}`);
  await writeFile(join(folder, 'natter.sources'), `${fields.join('\n')}\n`);
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'natter.sources'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Default-Release': '',
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
  };
  return ['-qq', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
};
