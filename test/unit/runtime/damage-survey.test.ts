import { expect, test } from 'vitest';
import { InMemoryEventLog } from '../../../shared/adapters/in-memory/event-log.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { surveyDamage } from '../../../shared/runtime/damage-survey.ts';
import { encodeCommit } from '../../../shared/wire/codec.ts';
import { unrecorded } from '../../support/domain/commits.ts';
import { tell } from '../../support/domain/given.ts';

const { commits } = tell('append m1', 'append m2', 'append m3', 'append m4');
const [{ key }] = commits as [RecordedCommit];
const replicaOf = (stored: readonly RecordedCommit[]): EventLog => {
  const log = new InMemoryEventLog({ clock: systemClock, semantics: 'R1' });
  for (const commit of stored) log.storeRaw('user_message', key, encodeCommit(unrecorded(commit)));
  return log;
};
/** Three servers; each read of the session is answered by the next one. */
const gapsIn = async (replicas: readonly EventLog[]): Promise<number> => {
  let asked = 0;
  const [leader] = replicas as [EventLog];
  const events: EventLog = Object.create(leader, {
    last: { value: leader.last.bind(leader) },
    count: { value: leader.count.bind(leader) },
    read: { value: (...given: Parameters<EventLog['read']>) => (replicas[asked++ % replicas.length] as EventLog).read(...given) },
  });
  const none = { get: async () => null } as never;
  const { gaps } = await surveyDamage({ events, snapshots: none, index: none, clock: systemClock }, key);
  return gaps.length;
};

test('F13: a session that one replica has whole is not damaged; one that all of them lack a commit of is', async () => {
  const whole = replicaOf(commits);
  const broken = replicaOf(commits.filter((_, at) => at !== 1));
  expect(await gapsIn([broken, broken, broken])).toBe(1);
  expect(await gapsIn([broken, broken, whole])).toBe(0);
});
