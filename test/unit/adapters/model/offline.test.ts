import { describe, expect, test } from 'vitest';
import { OfflineModel, offlineIntroduction } from '../../../../shared/adapters/model/offline.ts';
import { compactionPrompt } from '../../../../shared/domain/prompt/compaction.ts';
import { flushPrompt } from '../../../../shared/domain/prompt/conversation-message.ts';
import type { ModelMessage, ModelRequest } from '../../../../shared/domain/prompt/model-request.ts';
import { subAgentMessage } from '../../../../shared/domain/prompt/sub-agent-message.ts';
import { greeting } from '../../../../shared/domain/routing/chat-answer.ts';
import type { StepOutcome } from '../../../../shared/domain/values/types.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { request } from './rig.ts';

const said = (text: string, kind = 'reply') => ({ kind, text });
const calls = (...written: [tool: string, text: string][]) => ({
  kind: 'continue',
  calls: written.map(([tool, text]) => ({ tool, arguments: text })),
});

/** What the model answers, how long it takes, and whether it may answer at once. */
const ask = async (asked: ModelRequest) => {
  const clock = new VirtualClock(1_790_000_000_000);
  const model = new OfflineModel(clock);
  const pieces: string[] = [];
  let tookMs = Number.POSITIVE_INFINITY;
  const outcome = model
    .step(asked, (text) => pieces.push(text), new AbortController().signal)
    .finally(() => {
      tookMs = clock.monotonic();
    });
  await clock.pass(700_000);
  return { outcome: await outcome, pieces, tookMs, instantly: model.instantly(asked) };
};
const askFor = (prompt: string, step = 1) => ask(request({ prompt, step, messages: [] }));

/** Steps until the answer, with each call answered `result of <arguments>`. */
const turn = async (prompt: string, before: readonly ModelMessage[] = []): Promise<StepOutcome[]> => {
  const messages: ModelMessage[] = [...before, { role: 'user', text: prompt }];
  const outcomes: StepOutcome[] = [];
  for (let step = 1; step < 40 && (outcomes.at(-1)?.kind ?? 'continue') === 'continue'; step++) {
    const { outcome } = await ask(request({ prompt, step, messages: [...messages] }));
    outcomes.push(outcome);
    if (outcome.kind !== 'continue') break;
    const made = (outcome.calls ?? []).map((call, index) => ({ ...call, callId: `t.${step}.${index}` }));
    messages.push({ role: 'assistant', text: outcome.text, calls: made });
    for (const { callId, tool, arguments: given } of made) {
      messages.push({ role: 'tool', callId, tool, outcome: given === 'bad' ? 'error' : 'ok', text: `result of ${given}` });
    }
  }
  return outcomes;
};

describe('the grammar of the offline model (docs/use/offline-model.md)', () => {
  test.each([
    ['hello', 1, said('You said: hello'), 0],
    ['  much   space ', 1, said('You said: much   space'), 0],
    ['', 1, said('You said: '), 0],
    [subAgentMessage({ key: 'k', runId: 'run-1', text: 'Twelve seeds' }), 1, said('From the sub-agent: Twelve seeds'), 0],
    [subAgentMessage({ key: 'k', runId: 'run-1', text: '' }), 1, said('From the sub-agent: Ended without an answer.'), 0],
    [subAgentMessage({ key: 'k', text: 'half way' }), 1, said('From the sub-agent: half way'), 0],
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
    ['[[reason]] hello', 1, { ...said('You said: hello'), reasoning: [{ text: 'I was asked: hello' }] }, 0],
    ['[[fail busy]] hello', 1, { kind: 'failed', code: 'busy' }, 0],
    ['[[fail]] hello', 1, { kind: 'failed', code: 'offline_failure' }, 0],
    ['[[steps 2]] [[fail]] hello', 1, said('step 1 of 2', 'continue'), 0],
    ['[[steps 2]] [[fail]] hello', 2, { kind: 'failed', code: 'offline_failure' }, 0],
    ['[[dance]] hello', 1, said('You said: [[dance]] hello'), 0],
    ['[[Think 5]] hello', 1, said('You said: [[Think 5]] hello'), 0],
    ['[[think 80]] [[tool a {}]] hello', 1, said('step 1 of 2', 'continue'), 80],
  ])('%j at step %i', async (prompt, step, expected, tookMs) => {
    const answer = await askFor(prompt, step);
    expect(answer.outcome).toMatchObject(expected);
    expect(answer.tookMs).toBeCloseTo(tookMs, 3);
  });

  test('streams what it says, piece by piece', async () => {
    const { pieces, outcome } = await askFor('one two [[think 90]] three');
    expect(pieces.length).toBeGreaterThan(3);
    expect(outcome).toMatchObject({ text: pieces.join('') });
  });

  test.each([
    ['hello', true],
    ['[[size 10]]', true],
    ['[[silent]]', true],
    ['[[fail]]', true],
    ['[[think 1]]', false],
    ['[[steps 2]]', false],
    ['[[tool a]]', false],
  ])('answers %j at once: %s, with the same words', async (prompt, atOnce) => {
    const { instantly, outcome } = await askFor(prompt);
    expect(instantly).toEqual(atOnce ? outcome : null);
  });
});

describe('[[tool NAME {json}]]', () => {
  test.each<[string, [string, string][], string]>([
    ['[[tool a {"x": 1}]] hello', [['a', '{"x": 1}']], 'hello'],
    ['[[tool a]] hello', [['a', '{}']], 'hello'],
    [
      '[[tool a {}]][[tool b {}]]',
      [
        ['a', '{}'],
        ['b', '{}'],
      ],
      '',
    ],
    ['[[tool a {"x": [[1, 2]]}]] hello', [['a', '{"x": [[1, 2]]}']], 'hello'],
    ['[[tool a [[1]]]] hello', [['a', '[[1]]']], 'hello'],
    ['[[tool a {"x": "[[fail]] and ]]"}]] hello', [['a', '{"x": "[[fail]] and ]]"}']], 'hello'],
    [
      '[[tool a {"x": ]] [[tool b {"y": 1}]] hello',
      [
        ['a', '{"x":'],
        ['b', '{"y": 1}'],
      ],
      'hello',
    ],
    ['[[tool a not json]] hello', [['a', 'not json']], 'hello'],
    ['[[tool __proto__ {"__proto__": 1}]] hello', [['__proto__', '{"__proto__": 1}']], 'hello'],
    ['[[tool server__read.file {}]] hello', [['server__read.file', '{}']], 'hello'],
  ])('%s', async (prompt, written, text) => {
    const [first, last] = await turn(prompt);
    expect(first).toMatchObject(calls(...written));
    expect(last).toMatchObject({ kind: 'reply', text: expect.stringMatching(new RegExp(`^You said: ${text}`)) });
  });

  test.each(['[[tool a {"x": 1} hello', '[[tool]] hello', '[[tool  a]] hello', '[[ tool a]] hello'])(
    '%j is no call',
    async (prompt) => {
      expect((await askFor(prompt)).outcome).toEqual(expect.objectContaining({ kind: 'reply', text: `You said: ${prompt}` }));
    },
  );

  test('[[then]] begins the calls of the next step; the answer lists what came of each', async () => {
    const outcomes = await turn('[[tool a {"n":1}]] [[tool b]] [[then]] go on [[tool c bad]]');
    expect(outcomes).toMatchObject([
      { text: 'step 1 of 3', ...calls(['a', '{"n":1}'], ['b', '{}']) },
      { text: 'step 2 of 3', ...calls(['c', 'bad']) },
      {
        kind: 'reply',
        text: 'You said: go on\na → result of {"n":1}\nb → result of {}\nc → error: result of bad',
      },
    ]);
  });

  test('goes with the other words', async () => {
    expect(await turn('[[steps 4]] [[tool a]] x')).toMatchObject([
      calls(['a', '{}']),
      { text: 'step 2 of 4' },
      { text: 'step 3 of 4' },
      { text: 'You said: x\na → result of {}' },
    ]);
    expect((await turn('[[tool a]] [[silent]]')).at(-1)).toMatchObject({ text: '<NO_REPLY>' });
    expect((await turn('[[tool a]] [[size 3]]')).at(-1)).toMatchObject({ text: 'nat' });
    expect((await turn('[[tool a]] [[fail odd]]')).at(-1)).toMatchObject({ kind: 'failed', code: 'odd' });
  });

  test('does the same after other turns, the same message among them, and with what was said in between', async () => {
    const before: ModelMessage[] = [
      { role: 'user', text: '[[tool a]] x' },
      { role: 'assistant', text: 'step 1 of 2', calls: [{ callId: 'old', tool: 'a', arguments: '{}' }] },
      { role: 'tool', callId: 'old', tool: 'a', outcome: 'ok', text: 'old' },
      { role: 'assistant', text: 'You said: x\na → old' },
    ];
    expect(await turn('[[tool a]] x', before)).toMatchObject([calls(['a', '{}']), { text: 'You said: x\na → result of {}' }]);
  });

  test('is bounded: 32 steps, 32 calls of one, 200 characters of each result', async () => {
    const many = await turn(`${'[[tool a]]'.repeat(40)}${'[[then]][[tool b]]'.repeat(40)}`);
    expect(many).toHaveLength(33);
    expect(many[0]).toMatchObject({ calls: { length: 32 } });
    const [, last] = await turn(`[[tool a "${'x'.repeat(500)}"]]`);
    expect(last).toMatchObject({ text: `You said: \na → result of "${'x'.repeat(189)}` });
  });
});

describe('what people see first', () => {
  const introduction = offlineIntroduction('npx natter');
  const answersOf = async (...prompts: string[]): Promise<string[]> => {
    const model = new OfflineModel(new VirtualClock(1), 1_000, introduction);
    const asked = prompts.map((prompt) => model.instantly({ prompt }));
    return asked.map((outcome) => (outcome?.kind === 'reply' ? outcome.text : ''));
  };

  test('with its first answer it says what it is and how to get a real one, if it was told to, and once', async () => {
    expect(introduction).toMatch(/offline model.*npx natter init$/);
    expect(await answersOf('[[silent]]', greeting, 'hello', 'hello')).toEqual([
      '<NO_REPLY>',
      'Hello! This session begins anew. What can I do for you?',
      `You said: hello\n\n${introduction}`,
      'You said: hello',
    ]);
  });

  test('the prompt of a bare /new is not echoed: no person wrote it (A4/55)', async () => {
    const { outcome, pieces } = await ask(request({ prompt: greeting }));
    expect(outcome).toMatchObject(said('Hello! This session begins anew. What can I do for you?'));
    expect(pieces.join('')).not.toContain('Greet the user');
  });
});

describe('what serves the context', () => {
  test('a compaction is a summary that says how much was said, how it began and how it ended', async () => {
    const older: ModelMessage[] = ['one', 'two', 'three'].map((text) => ({ role: 'user', text }));
    const asked = compactionPrompt(older, { roomTokens: 9_000 });
    const { outcome } = await ask(request(asked));
    expect(outcome).toMatchObject(said('Summary of 3 messages: user: one … user: three'));
  });

  test('a flush writes one note where it can, and then nothing', async () => {
    const tools = [{ name: 'write_file', description: '', parameters: {} }];
    const flush = { purpose: 'flush', prompt: flushPrompt.text, messages: [flushPrompt] } as const;
    const { outcome } = await ask(request({ ...flush, tools }));
    expect(outcome).toMatchObject(calls(['write_file', '{"path":"memory/notes.md","content":"1 messages so far.\\n"}']));
    const done: ModelMessage[] = [
      flushPrompt,
      { role: 'assistant', text: '', calls: [{ callId: 'c', tool: 'write_file', arguments: '{"path":"memory/notes.md"}' }] },
      { role: 'tool', callId: 'c', tool: 'write_file', outcome: 'ok', text: 'written' },
    ];
    expect((await ask(request({ ...flush, tools, messages: done }))).outcome).toMatchObject(said('<NO_REPLY>'));
    expect((await ask(request(flush))).outcome).toMatchObject(said('<NO_REPLY>'));
  });

  test('A7/85: where there are no files it remembers the note instead', async () => {
    const tools = [{ name: 'memory_add', description: '', parameters: {} }];
    const flush = { purpose: 'flush', prompt: flushPrompt.text, messages: [flushPrompt] } as const;
    const { outcome } = await ask(request({ ...flush, tools }));
    expect(outcome).toMatchObject(calls(['memory_add', '{"text":"1 messages so far.\\n"}']));
  });

  test('A7/82: asked what it remembers it tells the lines of the section "Memory", and nothing of others', async () => {
    const memory = [
      '## Memory',
      '',
      'notes',
      '',
      '- [2-0] (person, 2026-01-01) likes tea',
      '- [1-0] (agent, 2026-01-01) ## x',
    ].join('\n');
    const system = `Be brief.\n\n${memory}\n\n## Working memory\n\n> - [9-9] no memory`;
    const told = 'I remember:\n- [2-0] (person, 2026-01-01) likes tea\n- [1-0] (agent, 2026-01-01) ## x';
    for (const prompt of ['What do you remember?', 'well, what do you remember of me', '[[memory]]']) {
      const { outcome, instantly } = await ask(request({ prompt, system }));
      expect([instantly, outcome]).toMatchObject([null, said(told)]);
    }
    expect((await ask(request({ prompt: '[[memory]]', system: 'Be brief.' }))).outcome).toMatchObject(
      said('I remember nothing.'),
    );
  });

  test('counts all it was given as its input, if it is more than a plain message', async () => {
    const long: ModelMessage = { role: 'user', text: 'x'.repeat(4_000) };
    const inputOf = async (prompt: string) => {
      const { outcome } = await ask(request({ prompt, messages: [long, { role: 'user', text: prompt }] }));
      return outcome.kind === 'failed' ? 0 : outcome.usage.inputTokens;
    };
    expect(await inputOf('[[steps 2]]')).toBeGreaterThan(1_000);
    expect(await inputOf('hello')).toBeLessThan(10);
  });
});
