import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import pc from 'picocolors';
import { NatterError } from '../../../shared/kit/errors.ts';
import { configFileOf } from '../../../shared/runtime/config/load.ts';
import { type CommonOptions, sourceOf } from '../access.ts';
import type { World } from '../terminal.ts';
import { chooseProvider } from './choose.ts';
import { offlineText } from './config-text.ts';
import { type Choice, type Questions, terminalQuestions } from './questions.ts';
import { type TrialOptions, triedText } from './tried-text.ts';

export interface InitOptions extends CommonOptions, TrialOptions {
  /** Replace a configuration that is there; it is kept beside the new one. */
  readonly force?: boolean;
}

const replacing: readonly Choice<boolean>[] = [
  { value: false, label: 'Keep it' },
  { value: true, label: 'Write a new one', hint: 'this one stays beside it as a .bak file' },
];

/**
 * `natter init`: finds or asks for a provider, tries its model, and writes the configuration. Nothing that it prints or writes has a key, but
 * for a key that is typed, which gets a file of its own. Throws `NatterError('invalid')` if there is a configuration, and if there is nothing to
 * set up.
 */
export const init = async (world: World, options: InitOptions, given?: Questions): Promise<void> => {
  const { terminal } = world;
  const { path } = configFileOf(sourceOf(world, options));
  const questions = given ?? (terminal.interactive ? await terminalQuestions(world) : null);
  const isThere = existsSync(path);
  if (isThere && !options.force) {
    const advice =
      'edit it ("natter config schema" prints every key), or use --force to write a new one and keep this one as a .bak file';
    const isReplaced = questions !== null && (await questions.choose(`${path} exists. Replace it?`, replacing));
    if (!isReplaced) throw new NatterError('invalid', `${path} exists; ${advice}`);
  }
  const dataDir = dirname(path);
  const date = new Date(world.now()).toISOString().slice(0, 10);
  const choose = async () => {
    const first = await chooseProvider(world, options, dataDir, questions);
    if (first === null) return { text: offlineText(date), chosen: null };
    return triedText(world, { options, dataDir, date }, first, questions);
  };
  const { text, chosen } = await choose().finally(() => terminal.divert(null));
  if (isThere) copyFileSync(path, `${path}.bak`);
  if (chosen?.typedKey !== undefined && chosen.key.keyFile !== undefined)
    writePrivate(chosen.key.keyFile, `${chosen.typedKey}\n`);
  writePrivate(path, text);
  if (isThere) terminal.out(`kept     ${path}.bak: what else you had set is in it alone, copy what you need`);
  terminal.out(`${pc.green('written')}  ${path}`);
  terminal.out(
    'The model may not run programs (exec): uncomment "workspace" and "tools" in it before "natter up" to allow that, each time with your approval.',
  );
  terminal.out(`Next: natter up`);
};

/** Writes a file that only this user can read. */
const writePrivate = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600, flush: true });
};
