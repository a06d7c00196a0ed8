import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestServer } from '../../support/nats.ts';
import type { Stage } from './rig.ts';

/** Checkpoint services in processes of their own that die or freeze at one moment (`test/chaos/doomed-checkpoint.ts`), and what they work on. */
const program = fileURLToPath(new URL('../../../dist/test/chaos/doomed-checkpoint.js', import.meta.url));
export const keyOf = (person: string): string => `agent:main:irc:dm:${person}`;
export const key = keyOf('ann');

export interface Doom {
  /** Number or name of the moment; none: it lives. */
  readonly at?: number | string;
  readonly by?: 'SIGKILL' | 'SIGSTOP';
}

export const openDoom = ({ url, usersDir }: TestServer) => {
  const children = new Set<ChildProcess>();
  return {
    /** Starts one, and waits until it is ready or has met its doom. */
    start: async (prefix: string, member: string, { at = 0, by = 'SIGKILL' }: Doom = {}): Promise<ChildProcess> => {
      const broker = { NATS_URL: url, NATS_USERS_DIR: usersDir };
      const doom = { DOOM_AT: String(at), DOOM_BY: by, DOOM_PREFIX: prefix, DOOM_MEMBER: member, ...broker };
      const child = fork(program, [], { env: { ...process.env, ...doom }, stdio: 'inherit' });
      // Every wait for its end is one.
      child.setMaxListeners(0);
      children.add(child);
      await Promise.race([once(child, 'message'), once(child, 'exit')]);
      return child;
    },
    /** Tells one to hold, or at which moment from now on it meets its doom; false if it has met it. */
    tell: (child: ChildProcess, said: number | 'hold'): Promise<boolean> => {
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(false);
      const knows = once(child, 'message').then(() => true);
      child.send(said, () => {});
      return Promise.race([knows, once(child, 'exit').then(() => false)]);
    },
    close: (): void => {
      for (const child of children) child.kill('SIGKILL');
    },
  };
};

/** Waits until a child says something. */
export const heard = (child: ChildProcess, wanted: string): Promise<void> =>
  new Promise((resolve) => {
    child.on('message', (said) => said === wanted && resolve());
  });

export const say = ({ send }: Stage, id: string, sessionId = 's1', person = 'ann') =>
  send(
    keyOf(person),
    {
      ...{ type: 'append_message', sessionId },
      message: { messageId: id, text: `remember that ${id}`, sender: { id: person, principal: `irc:${person}` } },
    },
    id,
  );
export const ask = ({ send }: Stage, id: string, person = 'ann') =>
  send(keyOf(person), { type: 'request_checkpoint', why: { reason: 'manual' } }, id);
export const reset = ({ send }: Stage, id: string, person = 'ann') =>
  send(keyOf(person), { type: 'reset', sessionId: 's2', cause: { trigger: 'command', rule: '/new', lastUpdateAt: 0 } }, id);

type Commits = Awaited<ReturnType<Stage['commits']>>;
/** What was remembered, each as often as it was. */
export const rememberedIn = (commits: Commits): unknown[] =>
  commits.flatMap(({ events }) =>
    events.flatMap((event) =>
      event.type === 'memory_changed' ? event.changes.map((change) => change.op === 'add' && change.text) : [],
    ),
  );
