import { createHash } from 'node:crypto';
import { runIdOf } from './run-id.ts';
import { bareKey, parseKey, type SessionKey } from './session-key.ts';

/**
 * Keys of sub-agents: `agent:<agentId>:subagent:<root>-<call>` for those that a session spawns, with a further segment for each
 * level below. `<root>` is a hash of the session's key, so that keys alone reveal the whole tree below a session (B3, B4).
 */

const segment = 'subagent:';
/** 96 bits make a collision practically impossible. */
const hashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);

/** The run that a call spawns: the same for the same call, however often it is repeated. `mark` names its commands. */
export const spawnOf = (parent: SessionKey, callId: string): { key: SessionKey; runId: string; mark: string } => {
  const mark = hashOf(parent, callId);
  const key = (depthOf(parent) === 0 ? `${treeOf(parent)}${mark}` : `${parent}:${mark}`) as SessionKey;
  return { key, runId: runIdOf(key, `run-${mark}`), mark };
};

/** The number of spawns above a session: 0 for one started by people or programs. */
export const depthOf = (key: SessionKey): number => {
  const bare = bareKey(key);
  return bare.startsWith(segment) ? bare.slice(segment.length).split(':').length : 0;
};

/** Tells if `root` spawned a session, directly or through others. */
export const belowOf = (root: SessionKey): ((key: SessionKey) => boolean) => {
  const tree = depthOf(root) === 0 ? treeOf(root) : `${root}:`;
  return (key) => key.startsWith(tree);
};

/** The common prefix of the keys of everything below a session. */
const treeOf = (root: SessionKey): string => `agent:${parseKey(root).agentId || 'main'}:${segment}${hashOf(root)}-`;

/** Name of the timer that ends a run after its deadline. */
export const deadlineTimer = 'deadline';
