import { spawn } from 'node:child_process';

/** The program that opens an address on this system, and its arguments before the address. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const elsewhere = ['xdg-open'] as const;
/** Most openers end at once. One that still runs after this time has become the browser. */
const openedMs = 2_000;

/** Opens an address in the person's browser. `false`: none can be started here, or the opener found none. */
export const openBrowser = (address: string, patienceMs = openedMs): Promise<boolean> =>
  new Promise((resolve) => {
    const [program, ...args] = openers[process.platform] ?? elsewhere;
    const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
    child.unref();
    const patience = setTimeout(resolve, patienceMs, true);
    const ended = (isOpened: boolean): void => {
      clearTimeout(patience);
      resolve(isOpened);
    };
    child.once('error', () => ended(false));
    child.once('exit', (code) => ended(code === 0));
  });
