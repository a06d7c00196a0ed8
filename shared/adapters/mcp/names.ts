import { createHash } from 'node:crypto';

const nameCharacters = 64;
const hashCharacters = 8;

/**
 * The name of a server's tool as every provider takes it: `<server>__<tool>`, of `A-Za-z0-9_-`, at most 64. Where the tool's own name does
 * not fit, or could be taken for one that did not, its hash makes up for what had to go. A server's name has no `__` and no `_` at its end, so no name says two servers.
 */
export const toolName = (server: string, tool: string): string => {
  const plain = `${server}__${tool}`;
  if (/^[A-Za-z0-9_-]+$/.test(tool) && !/_[0-9a-f]{8}$/.test(tool) && plain.length <= nameCharacters) return plain;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashCharacters);
  return `${plain.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, nameCharacters - hashCharacters - 1)}_${hash}`;
};
