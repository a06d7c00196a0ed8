import { NatterError } from '../../../shared/kit/errors.ts';
import { quoted } from '../../../shared/kit/one-line.ts';

/**
 * Names that a skill may pass to a package manager (A15/169–170): a package of its index, perhaps with a version. No addresses,
 * no paths, and nothing that begins with `-` and would be read as an option.
 */
const patterns = {
  brew: /^(?:[a-z0-9][\w-]*\/[a-z0-9][\w-]*\/)?[a-z0-9][\w+.@-]*$/i,
  node: /^(?:@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*(?:@[\w^~][\w.^~+-]*)?$/i,
  go: /^[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+(?:\/[\w~][\w.~-]*)+(?:@[a-z0-9][\w.+-]*)?$/i,
  uv: /^[a-z0-9](?:[\w.-]*[a-z0-9])?(?:\[[a-z0-9][\w.,-]*\])?(?:==[a-z0-9][\w.+!]*)?$/i,
} as const;
export type ManagedKind = keyof typeof patterns;
/** Package managers take such a name for a local file. */
const isFile = /\.(tar|tar\.\w+|tgz|zip|whl|rb)$/i;

const fields = { brew: 'formula', node: 'package', go: 'module', uv: 'package' } as const;
const characters = 214;

/** Returns the name unchanged. Throws `invalid` for one that could be anything other than a package. */
export const packageName = (kind: ManagedKind, name: string | undefined): string => {
  const field = fields[kind];
  if (name === undefined) throw new NatterError('invalid', `install: ${field} is missing for the kind ${kind}`, { field });
  if (patterns[kind].test(name) && !isFile.test(name) && name.length <= characters) return name;
  throw new NatterError('invalid', `install: ${field}: ${quoted(name)} is no name of a package that ${kind} installs`, { field });
};
