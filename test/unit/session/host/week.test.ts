import { describe, expect, test } from 'vitest';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { type Random, randomOf } from '../../../sim/random.ts';
import type { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { homeKey } from '../rig.ts';
import { script } from '../script.ts';
import { type Served, serve } from '../served.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const idleMs = 30 * minute;
const turnLimit = 6;
/** How late a checkpoint may be: the broker's second, and the replacement of a dead host. */
const lateMs = 12_000;

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
/** Most answers come at once, some take longer than the silence is long. */
const moody =
  (random: Random) =>
  (clock: VirtualClock): Model => ({
    ...script([]),
    step: async () => {
      await clock.sleep(random.pick([0, 0, 0, 2_000, 5 * minute, 50 * minute]));
      return { kind: 'reply', text: 'well', model: 'moody', usage };
    },
  });

/** Seven days of one session: talks and silences, resets at four in the morning, wishes of a person, hosts that die at any time. */
const liveAWeek = async (seed: number): Promise<{ readonly served: Served; readonly endsAt: number }> => {
  const random = randomOf(seed);
  const settings = { introspection: { turnLimit, idleMinutes: 30 }, agent: { stallMs: 5 * hour } };
  const served = await serve({ model: moody(random), settings });
  const { clock } = served;
  const endsAt = clock.now() + 7 * day;
  for (let count = 0; clock.now() < endsAt; count++) {
    const boundary = Math.floor((clock.now() - 4 * hour) / day) * day + 4 * hour;
    const sends = random.weighted({ message: 12, remembered: 1, reset: 1, checkpoint: 1, crash: 4, nothing: 1 });
    const expiry = { rule: 'session.reset', dailyBoundaryAt: boundary };
    const message = { messageId: `m${count}`, text: 'hello', sender: { id: 'ann' } };
    const occasion = { sessionId: `s${count}`, expiry, message };
    if (sends === 'message') await served.ask({ id: `m${count}`, data: { type: 'post_message', ...occasion } });
    if (sends === 'remembered') await served.ask({ id: `m${count}`, data: { type: 'append_message', ...occasion } });
    if (sends === 'reset')
      await served.ask({ id: `r${count}`, data: { type: 'reset', ...occasion, cause: { trigger: 'command', rule: '/new' } } });
    if (sends === 'checkpoint')
      await served.ask({ id: `c${count}`, data: { type: 'request_checkpoint', why: { reason: 'manual' } } });
    if (sends === 'crash') await served.crash();
    await clock.pass(random.pick([0, 5, 20_000, 3 * minute, 3 * minute, 20 * minute, 40 * minute, 3 * hour]));
    // What a sweep would find: a turn that no host runs.
    await served.host.recover(homeKey).catch(() => {});
  }
  await clock.pass(3 * hour);
  await served.host.recover(homeKey);
  await clock.pass(3 * hour);
  return { served, endsAt };
};

/** What the log says should have been asked for, told apart from what was: by reason, with the time it is due from. */
const faultsOf = (commits: readonly RecordedCommit[]): { readonly faults: string[]; readonly counts: Map<string, number> } => {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  let [unasked, turns, quietSince] = [0, 0, 0];
  let isBusy = false;
  let limitAt = 0;
  for (const { rev, at, events } of commits) {
    const asks = events.find((event) => event.type === 'checkpoint_requested')?.reason;
    // A silence that is over must have led to a checkpoint while it lasted.
    if (unasked > 0 && !isBusy && asks !== 'idle' && at - quietSince > idleMs + lateMs)
      faults.push(`rev ${rev}: nobody introspected a silence of ${at - quietSince} ms`);
    if (limitAt > 0 && asks !== 'turn_limit' && at - limitAt > lateMs)
      faults.push(`rev ${rev}: turn limit reached at ${limitAt}`);
    for (const event of events) {
      if (event.type === 'user_message' || event.type === 'assistant_message') [unasked, quietSince] = [unasked + 1, at];
      if (event.type === 'turn_started') isBusy = true;
      if (event.type === 'turn_completed') [isBusy, turns] = [false, turns + 1];
      if (event.type === 'turn_aborted' || event.type === 'turn_failed') isBusy = false;
      if (turns >= turnLimit && limitAt === 0) limitAt = at;
      if (event.type === 'session_reset') {
        if (unasked > 0) faults.push(`rev ${rev}: a generation ends with ${unasked} messages that nobody looks back on`);
        [unasked, turns, limitAt, quietSince] = [0, 0, 0, at];
      }
      if (event.type !== 'checkpoint_requested') continue;
      counts.set(event.reason, (counts.get(event.reason) ?? 0) + 1);
      if (unasked === 0) faults.push(`rev ${rev}: ${event.reason} for nothing`);
      if (event.reason === 'idle' && (isBusy || at - quietSince < idleMs)) faults.push(`rev ${rev}: idle too early`);
      if (event.reason === 'turn_limit' && turns < turnLimit) faults.push(`rev ${rev}: turn_limit after ${turns}`);
      [unasked, turns, limitAt] = [0, 0, 0];
    }
  }
  if (unasked > 0) faults.push(`${unasked} messages that nobody ever introspected`);
  return { faults, counts };
};

describe('A7/80–83: a simulated week, with hosts that die and sessions that are reset at night', () => {
  test.each([1, 2, 3, 4])('A7/81: each reason holds exactly when it should, seed %i', async (seed) => {
    const { served } = await liveAWeek(seed);
    const commits = served.system.events.stored();
    const { faults, counts } = faultsOf(commits);
    expect(faults).toEqual([]);
    expect(Object.fromEntries(counts)).toEqual({
      ...{
        idle: expect.any(Number),
        manual: expect.any(Number),
        new_session: expect.any(Number),
        turn_limit: expect.any(Number),
      },
    });
  });
});
