import type { World } from '../terminal.ts';

/** `npm start` and `npx` leave no `natter` on the path. */
const callers: ReadonlyMap<string | undefined, string> = new Map([
  ['start', 'npm run natter --'],
  ['npx', 'npx natter'],
]);

/** How the user calls `natter` from a shell. */
export const callerOf = (env: World['env']): string => callers.get(env.npm_lifecycle_event) ?? 'natter';
