import { createHash } from 'node:crypto';

const nameCharacters = 64;
const hashCharacters = 8;

/**
 * The name of a server's tool in a form that every provider accepts: `<server>__<tool>`, of `A-Za-z0-9_-`, at most 64 characters.
 * If the tool's own name does not fit, or looks like a shortened one, a hash of it is appended. A server's name contains no `__`
 * and does not end in `_`, so that no name fits two servers.
 */
export const toolName = (server: string, tool: string): string => {
  const plain = `${server}__${tool}`;
  if (/^[A-Za-z0-9_-]+$/.test(tool) && !/_[0-9a-f]{8}$/.test(tool) && plain.length <= nameCharacters) return plain;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashCharacters);
  return `${plain.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, nameCharacters - hashCharacters - 1)}_${hash}`;
};
