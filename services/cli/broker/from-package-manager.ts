import { join } from 'node:path';
import type { Fetch } from './install.ts';
import { has, run } from './run.ts';

/** macOS with Homebrew, Windows with winget. Both install for the user, without administrator rights. */
export const fetchFromPackageManager: Fetch = async ({ environment, folder, progress }) => {
  const options = { folder, timeoutMs: 600_000 };
  if (process.platform === 'win32' && (await has('winget'))) {
    progress.note('  winget installs it for you alone, and checks its digest.');
    progress.progress('winget install …');
    const accept = ['--accept-source-agreements', '--accept-package-agreements', '--disable-interactivity'];
    await run('winget', ['install', '--exact', '--id', 'NATSAuthors.NATSServer', '--scope', 'user', ...accept], options);
    return join(environment.LOCALAPPDATA ?? '', 'Microsoft', 'WinGet', 'Links', 'nats-server.exe');
  }
  if (process.platform !== 'win32' && (await has('brew'))) {
    progress.note('  Homebrew installs it for you alone, and checks its digest.');
    progress.progress('brew install …');
    await run('brew', ['install', '--quiet', 'nats-server'], options);
    return join((await run('brew', ['--prefix', 'nats-server'], options)).trim(), 'bin', 'nats-server');
  }
  return null;
};
