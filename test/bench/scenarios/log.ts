import { uuidv7 } from 'uuidv7';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Commit } from '../../../shared/domain/session/envelope.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';

const serial = 100;
const keysAtOnce = 64;
const perKey = 40;

/** The event log by itself: one append after the other, appends to many sessions at once, and following what was appended. */
export const eventLog = async (setup: SetupName): Promise<Row[]> => {
  const system = await startSystem(setup);
  try {
    const { events } = system.ports;
    const { lastSeq } = await events.info();
    const serialMs = await time(() => append(events, 'one', serial));
    const keys = Array.from({ length: keysAtOnce }, (_, index) => `many:${index}`);
    const parallelMs = await time(() => Promise.all(keys.map((name) => append(events, name, perKey))));
    const all = serial + keysAtOnce * perKey;
    const followMs = await time(() => follow(events, lastSeq, all));
    const where = setups[setup].title;
    return [
      { what: `one append (${where})`, value: serialMs / serial, unit: 'ms' },
      { what: `appends to ${keysAtOnce} sessions at once`, value: (keysAtOnce * perKey * 1_000) / parallelMs, unit: '/s' },
      { what: 'commits followed', value: (all * 1_000) / followMs, unit: '/s' },
    ];
  } finally {
    await system.close();
  }
};

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const commitOf = (key: SessionKey, rev: number): Commit => {
  const id = uuidv7();
  const event = { type: 'session_deactivated', v: 1, reason: 'idle' } as const;
  const ids = { id, correlationId: id, causationId: id, command: { id, seq: null, incarnation: null } };
  return { ...ids, v: 1, key, rev, sessionId: 'bench', epoch: 0, at: Date.now(), actor: 'bench', events: [event] };
};

const append = async (log: Ports['events'], name: string, count: number): Promise<void> => {
  const key = `agent:main:bench:${name}` as SessionKey;
  let last = 0;
  for (let rev = 1; rev <= count; rev++) {
    const result = await log.append(commitOf(key, rev), last);
    if (result.kind !== 'stored') throw new Error(`not stored: ${JSON.stringify(result)}`);
    last = result.seq;
  }
};

const follow = async (log: Ports['events'], after: number, count: number): Promise<void> => {
  const enough = new AbortController();
  let seen = 0;
  for await (const _ of log.follow({ after, signal: enough.signal })) if (++seen === count) enough.abort();
};
