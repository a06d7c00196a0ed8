import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Before tests that start the program as a process: `dist` is what the sources are. */
export default (): void => {
  const bootstrap = fileURLToPath(new URL('../../../services/cli/bootstrap.mjs', import.meta.url));
  execFileSync(process.execPath, [bootstrap, 'build'], { stdio: 'inherit' });
};
