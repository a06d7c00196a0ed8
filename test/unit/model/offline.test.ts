import { describe, expect, it } from 'vitest';
import { OfflineModel } from '../../../shared/adapters/model/offline.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { homeKey } from '../session-host/rig.ts';

const turn = { id: 'a', attempt: 1 };
const said = (text: string, kind = 'reply') => ({ kind, text });

/** What the model answers at a step, how long it takes, and whether it may answer at once. */
const ask = async (prompt: string, step = 1) => {
  const clock = new VirtualClock(1_790_000_000_000);
  const model = new OfflineModel(clock);
  const pieces: string[] = [];
  const request = { key: homeKey, turn, step, system: '', messages: [], tools: [], prompt };
  let tookMs = Number.POSITIVE_INFINITY;
  const outcome = model
    .step(request, (text) => pieces.push(text), new AbortController().signal)
    .finally(() => {
      tookMs = clock.monotonic();
    });
  await clock.pass(700_000);
  return { outcome: await outcome, pieces, tookMs, instantly: model.instantly(request) };
};

describe('the grammar of the offline model (docs/offline-model.md)', () => {
  it.each([
    ['hello', 1, said('You said: hello'), 0],
    ['  much   space ', 1, said('You said: much   space'), 0],
    ['', 1, said('You said: '), 0],
    ['[[think 500]] hello', 1, said('You said: hello'), 500],
    ['[[think 99999999]] hello', 1, said('You said: hello'), 600_000],
    ['[[think]] hello', 1, said('You said: hello'), 0],
    ['[[think -5]] hello', 1, said('You said: hello'), 0],
    ['[[steps 3]] hello', 1, said('step 1 of 3', 'continue'), 0],
    ['[[steps 3]] hello', 2, said('step 2 of 3', 'continue'), 0],
    ['[[steps 3]] hello', 3, said('You said: hello'), 0],
    ['[[steps 0]] hello', 1, said('You said: hello'), 0],
    ['[[steps 99]] hello', 1, said('step 1 of 32', 'continue'), 0],
    ['[[size 10]] hello', 1, said('natter nat'), 0],
    ['[[silent]] hello', 1, said('<NO_REPLY>'), 0],
    ['[[fail busy]] hello', 1, { kind: 'failed', code: 'busy' }, 0],
    ['[[fail]] hello', 1, { kind: 'failed', code: 'offline_failure' }, 0],
    ['[[dance]] hello', 1, said('You said: [[dance]] hello'), 0],
    ['[[Think 5]] hello', 1, said('You said: [[Think 5]] hello'), 0],
  ])('%j at step %i', async (prompt, step, expected, tookMs) => {
    const answer = await ask(prompt, step);
    expect(answer.outcome).toMatchObject(expected);
    expect(answer.tookMs).toBeCloseTo(tookMs, 3);
  });

  it('streams what it says, piece by piece', async () => {
    const { pieces, outcome } = await ask('one two [[think 90]] three');
    expect(pieces.length).toBeGreaterThan(3);
    expect(outcome).toMatchObject({ text: pieces.join('') });
  });

  it.each([
    ['hello', true],
    ['[[size 10]]', true],
    ['[[silent]]', true],
    ['[[fail]]', true],
    ['[[think 1]]', false],
    ['[[steps 2]]', false],
  ])('answers %j at once: %s, with the same words', async (prompt, atOnce) => {
    const { instantly, outcome } = await ask(prompt);
    expect(instantly).toEqual(atOnce ? outcome : null);
  });
});
