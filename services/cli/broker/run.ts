import { execFile } from 'node:child_process';

/** Runs a program to its end and returns what it wrote. Rejects with the last lines it wrote when it fails, and after `timeoutMs`. */
export const run = (
  program: string,
  programArguments: readonly string[],
  options: { folder: string; timeoutMs: number },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const settings = { cwd: options.folder, timeout: options.timeoutMs, maxBuffer: 8 * 1024 * 1024 };
    execFile(program, programArguments, settings, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const lastLines = stderr.trim().split('\n').slice(-2).join(' ');
      reject(new Error(`${program} failed: ${lastLines || error.message}`));
    });
  });

/** True when a program of this name can be run. */
export const has = (program: string): Promise<boolean> =>
  run(program, ['--version'], { folder: '.', timeoutMs: 10_000 }).then(
    () => true,
    () => false,
  );
