import { NatterError } from '../../../shared/kit/errors.ts';
import { quoted } from '../../../shared/kit/one-line.ts';

/**
 * What a skill may name to a package manager (A15/169–170): a package of its index and perhaps a version. No address, no path, nothing that
 * begins with `-` and would be an option.
 */
const patterns = {
  brew: /^(?:[a-z0-9][\w-]*\/[a-z0-9][\w-]*\/)?[a-z0-9][\w+.@-]*$/i,
  node: /^(?:@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*(?:@[\w^~][\w.^~+-]*)?$/i,
  go: /^[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+(?:\/[\w~][\w.~-]*)+(?:@[a-z0-9][\w.+-]*)?$/i,
  uv: /^[a-z0-9](?:[\w.-]*[a-z0-9])?(?:\[[a-z0-9][\w.,-]*\])?(?:==[a-z0-9][\w.+!]*)?$/i,
} as const;
export type ManagedKind = keyof typeof patterns;
/** Managers take such a name for a file of the folder they run in. */
const isFile = /\.(tar|tar\.\w+|tgz|zip|whl|rb)$/i;

const fields = { brew: 'formula', node: 'package', go: 'module', uv: 'package' } as const;
const characters = 214;

/** The name as it was given. Throws `invalid` for one that could be anything else than a package. */
export const packageName = (kind: ManagedKind, name: string | undefined): string => {
  const field = fields[kind];
  if (name === undefined) throw new NatterError('invalid', `install: ${field} is missing for the kind ${kind}`, { field });
  if (patterns[kind].test(name) && !isFile.test(name) && name.length <= characters) return name;
  throw new NatterError('invalid', `install: ${field}: ${quoted(name)} is no name of a package that ${kind} installs`, { field });
};
