import { describe, expect, test, vi } from 'vitest';
import type { ModelRequest } from '../../../../shared/domain/prompt/model-request.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import type { StepOutcome } from '../../../../shared/domain/values/types.ts';
import { command } from '../../../support/domain/given.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, post, type Rig, type RigOptions, rig } from '../rig.ts';
import { heardIn, outcomeOf, rowsOf } from '../script.ts';

const overflow: StepOutcome = { kind: 'failed', code: 'context_overflow', message: 'too long' };
const failed: StepOutcome = { kind: 'failed', code: 'model_error', message: 'not today' };
const long = (word: string): string => `${word} `.repeat(400).trim();

/** A model with a window of 2,000 tokens that sums up as "in short" and repeats nothing else; `says` decides first. */
const forgetful = (says: (request: ModelRequest) => StepOutcome | null = () => null, options: RigOptions = {}) => {
  const requests: ModelRequest[] = [];
  // Files can be written where there is a workspace.
  const tools = fakeTools({ name: JSON.stringify(options.settings ?? {}).includes('"workspace"') ? 'write_file' : 'note' });
  const made = rig({
    tools: () => tools,
    model: () => ({
      name: 'forgetful',
      windowTokens: 2_000,
      step: async (request) => {
        requests.push(request);
        const answer = request.purpose === 'compaction' ? 'in short' : request.purpose === 'flush' ? 'DONE' : 'yes';
        const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
        const outcome = says(request) ?? outcomeOf(answer);
        // What it would cost, so that the count is the estimate.
        const inputTokens = Math.ceil((request.system.length + JSON.stringify(request.messages).length) / 4);
        return outcome.kind === 'failed' ? outcome : { ...outcome, usage: { ...usage, inputTokens, totalTokens: inputTokens } };
      },
    }),
    ...options,
    settings: { context: { reserveTokens: 500, keepTokens: 100 }, ...options.settings },
  });
  return { made, requests, tools, purposes: () => requests.map(({ purpose = 'answer' }) => purpose) };
};
const say = async (made: Rig, text: string, id: string): Promise<void> => {
  await made.take(post(text, id));
  // A workspace is a real folder, which has a time of its own.
  await vi.waitFor(async () => {
    await made.clock.pass(10);
    expect(['turn_completed', 'turn_failed']).toContain(made.events().at(-1)?.type);
  });
};
const compactions = (events: readonly SessionEvent[]) => events.filter(({ type }) => type === 'context_compacted');

describe('the context within the window (A11/126)', () => {
  test('is compacted when the next step would not leave space for its answer, and the turn continues', async () => {
    const { made, requests, purposes } = forgetful();
    for (const id of ['a', 'b', 'c', 'd']) await say(made, long(id.repeat(5)), id);
    expect(purposes()).toEqual(['answer', 'answer', 'compaction', 'answer', 'answer']);
    expect(compactions(made.events())).toEqual([
      expect.objectContaining({ turn: { id: 'c', attempt: 1 }, summary: 'in short', tokensAfter: expect.any(Number) }),
    ]);
    expect(heardIn(requests[3] as ModelRequest)).toMatch(/^\[Summary .*\]\nin short (YES )?c+/s);
    expect(made.events().filter(({ type }) => type === 'turn_completed')).toHaveLength(4);
    expect(made.host.turnCounters.metrics()).toMatchObject({ compactions_total: 1 });
  });

  test('is not compacted at every step where a summary would win nothing: what is never summarised fills the window', async () => {
    const settings = { agent: { systemPrompt: 'x'.repeat(6_400) }, context: { reserveTokens: 500, keepTokens: 0 } };
    const { made, purposes } = forgetful(undefined, { settings });
    for (const id of ['a', 'b', 'c', 'd']) await say(made, id.repeat(400), id);
    expect(purposes()).toEqual(['answer', 'answer', 'answer', 'answer']);
    for (const id of ['e', 'f', 'g']) await say(made, id.repeat(400), id);
    expect(purposes().slice(4)).toEqual(['compaction', 'answer', 'answer', 'answer']);
  });

  test('is compacted when the provider rejects it as too large; the step is repeated once', async () => {
    const { made, purposes } = forgetful(({ purpose, messages }) =>
      purpose === undefined && messages.length > 3 ? overflow : null,
    );
    for (const id of ['a', 'b', 'c']) await say(made, `${id} ${long('word').slice(0, 200)}`, id);
    expect(purposes()).toEqual(['answer', 'answer', 'answer', 'compaction', 'answer']);
    expect(rowsOf(made.events()).slice(-4)).toEqual([
      expect.stringMatching(/^context_compacted c\/1/),
      'model_step c/1 1 stop',
      'assistant_message c/1',
      'turn_completed c/1',
    ]);
  });

  test('that cannot be made to fit fails the turn with the provider’s word', async () => {
    const { made, purposes } = forgetful(({ purpose, turn }) => (purpose === undefined && turn.id === 'c' ? overflow : null));
    for (const id of ['a', 'b', 'c']) await say(made, `${id} ${long('word').slice(0, 200)}`, id);
    expect(purposes().slice(2)).toEqual(['answer', 'compaction', 'answer']);
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_failed', code: 'context_overflow' });
    await say(made, 'd', 'd');
    expect(made.events().at(-1)?.type).toBe('turn_completed');
  });

  test('a failed summary does not keep the step from being tried without it', async () => {
    const { made, purposes } = forgetful(({ purpose }) => (purpose === 'compaction' ? failed : null));
    for (const id of ['a', 'b', 'c']) await say(made, long(id.repeat(5)), id);
    expect(purposes()).toEqual(['answer', 'answer', 'compaction', 'answer']);
    expect(compactions(made.events())).toEqual([]);
    expect(made.events().at(-1)?.type).toBe('turn_completed');
  });

  test('is compacted when a person asks for it, in a turn of its own, with what is asked for in particular', async () => {
    const { made, requests } = forgetful();
    for (const id of ['a', 'b', 'c']) await say(made, `${id} ${long('word').slice(0, 500)}`, id);
    const data = { type: 'compact', instructions: 'keep the names', notice: { code: 'compacted' } } as const;
    await made.take({ ...command('stop', 'compact-1'), key: homeKey, data });
    await made.clock.pass(10);
    expect(requests.at(-1)).toMatchObject({
      purpose: 'compaction',
      tools: [],
      system: expect.stringContaining('keep the names'),
    });
    expect(rowsOf(made.events()).slice(-3)).toEqual([
      expect.stringMatching(/^context_compacted compact-1\/1/),
      'notice compacted',
      'turn_completed compact-1/1',
    ]);
  });

  test('with nothing to summarize says so', async () => {
    const { made, purposes } = forgetful();
    await say(made, 'a', 'a');
    await made.take({ ...command('stop', 'c'), key: homeKey, data: { type: 'compact', notice: { code: 'compacted' } } });
    await made.clock.pass(10);
    expect(purposes()).toEqual(['answer']);
    expect(made.events().at(-2)).toMatchObject({ notice: { text: expect.stringContaining('Nothing was compacted') } });
    expect(made.events().at(-1)?.type).toBe('turn_completed');
  });
});

describe('the notes before a compaction (A7/85)', () => {
  const withWorkspace = {
    settings: { agent: { workspace: '/nowhere/at/all' }, context: { reserveTokens: 500, keepTokens: 100 } },
  };

  test('are asked for once, silently, with the tools; then it is compacted', async () => {
    let noted = 0;
    const { made, purposes, tools, requests } = forgetful(
      ({ purpose }) => (purpose === 'flush' && noted++ === 0 ? outcomeOf(['write_file {"text":"remember"}']) : null),
      withWorkspace,
    );
    for (const id of ['a', 'b', 'c']) await say(made, long(id.repeat(5)), id);
    expect(purposes()).toEqual(['answer', 'answer', 'flush', 'flush', 'compaction', 'answer']);
    expect(tools.effects).toEqual(['write_file c.1.0']);
    expect(requests[2]?.tools.map(({ name }) => name)).toEqual(['write_file']);
    const flushes = made.events().filter((event) => event.type === 'model_step' && event.flush);
    expect(flushes).toHaveLength(2);
    const answers = made.events().filter(({ type }) => type === 'assistant_message');
    expect(answers).toEqual(['a', 'b', 'c'].map(() => expect.objectContaining({ text: 'yes' })));
    expect(heardIn(requests.at(-1) as ModelRequest)).not.toContain('write_file');
  });

  test('no approval is requested in them', async () => {
    const { made, tools } = forgetful(
      ({ purpose, messages }) => (purpose === 'flush' && messages.at(-1)?.role === 'user' ? outcomeOf(['write_file']) : null),
      { settings: { ...withWorkspace.settings, tools: { rules: [{ tool: '*', action: 'ask' }] } } },
    );
    for (const id of ['a', 'b', 'c']) await say(made, long(id.repeat(5)), id);
    expect(tools.effects).toEqual([]);
    expect(made.events().some(({ type }) => type === 'approval_requested')).toBe(false);
    expect(made.events().at(-1)?.type).toBe('turn_completed');
  });

  test('have an end, whatever the model does', async () => {
    const { made, purposes } = forgetful(
      ({ purpose }) => (purpose === 'flush' ? outcomeOf(['write_file']) : null),
      withWorkspace,
    );
    for (const id of ['a', 'b', 'c']) await say(made, long(id.repeat(5)), id);
    expect(purposes().filter((purpose) => purpose === 'flush')).toHaveLength(8);
    expect(purposes().slice(-2)).toEqual(['compaction', 'answer']);
  });

  test.each([
    ['without a workspace', {}],
    [
      'where they are not wanted',
      { agent: { workspace: '/nowhere' }, context: { memoryFlush: false, reserveTokens: 500, keepTokens: 100 } },
    ],
  ])('are not asked for %s', async (_, settings) => {
    const { made, purposes } = forgetful(() => null, { settings });
    for (const id of ['a', 'b', 'c']) await say(made, long(id.repeat(5)), id);
    expect(purposes()).toEqual(['answer', 'answer', 'compaction', 'answer']);
  });
});
