import { spawn } from 'node:child_process';

/** The program that opens an address on this system, and its arguments before the address. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const elsewhere = ['xdg-open'] as const;

/** Opens an address in the person's browser. `false`: there is none that can be started here. */
export const openBrowser = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [program, ...args] = openers[process.platform] ?? elsewhere;
    const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
