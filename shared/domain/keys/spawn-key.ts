import { createHash } from 'node:crypto';
import { runIdOf } from './run-id.ts';
import { bareKey, parseKey, type SessionKey } from './session-key.ts';

/**
 * Keys of sub-agents: `agent:<agentId>:subagent:<root>-<call>` for a session's own, and a further segment for each that such a one begins.
 * `<root>` is a hash of the session's key, so the whole tree below a session shows in the keys alone (B3, B4).
 */

const segment = 'subagent:';
/** 96 bits: nobody meets another's by chance. */
const hashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);

/** The run that a call begins: the same for the same call, however often it is made. `mark` names its commands. */
export const spawnOf = (parent: SessionKey, callId: string): { key: SessionKey; runId: string; mark: string } => {
  const mark = hashOf(parent, callId);
  const key = (depthOf(parent) === 0 ? `${treeOf(parent)}${mark}` : `${parent}:${mark}`) as SessionKey;
  return { key, runId: runIdOf(key, `run-${mark}`), mark };
};

/** How often spawned: 0 for a session that people or programs began. */
export const depthOf = (key: SessionKey): number => {
  const bare = bareKey(key);
  return bare.startsWith(segment) ? bare.slice(segment.length).split(':').length : 0;
};

/** True of a session that `root` began, or that such a one began. */
export const isBelow = (root: SessionKey, key: SessionKey): boolean =>
  key.startsWith(depthOf(root) === 0 ? treeOf(root) : `${root}:`);

/** The beginning of the keys of all that a session begins. */
const treeOf = (root: SessionKey): string => `agent:${parseKey(root).agentId || 'main'}:${segment}${hashOf(root)}-`;

/** Name of the timer that ends a run which takes too long. */
export const deadlineTimer = 'deadline';
