import { expect, test } from 'vitest';
import type { Caller } from '../../../services/gateway/commands/envelope.ts';
import type { GatewayContext } from '../../../services/gateway/context/gateway-context.ts';
import { ConcurrencyQuota } from '../../../services/gateway/http/concurrency-quota.ts';
import { withNamedItems } from '../../../services/gateway/protocols/openai/references.ts';
import { type InputItem, inputItem } from '../../../services/gateway/protocols/openai/turns.ts';
import { Answer } from '../../../services/gateway/runs/answer.ts';
import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { NatterError } from '../../../shared/kit/errors.ts';

/** OpenAI's `item_reference`: an item of an earlier answer, named by its id. */

const key = 'agent:main:api:mine' as SessionKey;
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const [first, second, third] = ['one', 'two', 'three'].map((unique) => runIdOf(key, unique)) as [string, string, string];
const callId = `${first}.1.0`;
const call = { callId, tool: 'get_weather', arguments: '{"city":"Rome"}', client: true };
const turn = { id: first, attempt: 1 };
const client = { showsReasoning: true };
const begun = (runId: string, more: object = {}) => [
  { type: 'user_message', v: 1, message: { messageId: runId, text: 'hi', sender: { id: 'a' }, ...more }, turnId: runId },
  { type: 'turn_started', v: 1, turn: { id: runId, messageId: runId }, attempt: 1 },
];
const step = (runId: string, number: number, text: string, more: object = {}) => ({
  ...{
    type: 'model_step',
    v: 1,
    turn: { id: runId, attempt: 1 },
    step: number,
    text,
    finish: 'stop',
    model: 'x',
    usage,
    ...more,
  },
});
const done = (runId: string, text: string) => [
  { type: 'assistant_message', v: 1, turn: { id: runId, attempt: 1 }, messageId: `a-${runId}`, text },
  { type: 'turn_completed', v: 1, turn: { id: runId, attempt: 1 } },
];
/** A call of the program with its results, which are a run of their own in the same turn, and a message that is being answered. */
const log = (
  [
    begun(first, { client }),
    [
      step(first, 1, 'Let me see.', { finish: 'continue', calls: [call], reasoning: [{ text: 'A city.' }] }),
      { type: 'client_results_awaited', v: 1, turn, step: 1, calls: [callId], expiresAt: 9 },
    ],
    [{ type: 'client_results_received', v: 1, turn, runId: second, step: 2, by: { id: 'a' } }],
    [step(first, 2, 'It is warm.'), ...done(first, 'It is warm.')],
    begun(third),
    [step(third, 1, 'Too early', { finish: 'continue', calls: [{ ...call, client: false }] })],
  ] as unknown as SessionEvent[][]
).map((events, index) => ({ key, seq: index + 1, at: index, events, command: { id: 'none' } }) as unknown as RecordedCommit);

const caller = { id: 'r', actor: 'program', principal: { role: 'participant', principal: 'ann' } } as unknown as Caller;
const rig = (visible: readonly SessionKey[] = [key], rev = log.length) => {
  const reads: SessionKey[] = [];
  const replays = new ConcurrencyQuota({ all: 1, each: 1 }, 'too many');
  const context = {
    access: {
      read: async (_: unknown, asked: SessionKey) => {
        if (!visible.includes(asked)) throw new NatterError('not_found', 'none');
        return { after: 0, row: { rev } };
      },
    },
    ports: {
      events: {
        async *read(asked: SessionKey) {
          reads.push(asked);
          yield* asked === key ? log : [];
        },
      },
    },
    replays,
  } as unknown as GatewayContext;
  const named = (...items: InputItem[]) => withNamedItems(context, caller, items, 'input');
  return { named, reads, replays };
};
const reference = (id: string) => inputItem.parse({ type: 'item_reference', id });

test('text, calls and reasoning stand where they are named, of all answers with one reading of the session', async () => {
  const { named, reads, replays } = rig();
  const said = { role: 'user', text: 'and now?', files: [] } as const;
  const ids = [`rs_${first}_1`, `msg_${first}`, `fc_${callId}`, `msg_${second}`];
  expect(await named(...ids.map(reference), said)).toEqual([
    null,
    { role: 'assistant', text: 'Let me see.' },
    { role: 'assistant', text: '', calls: [{ id: callId, name: 'get_weather', arguments: '{"city":"Rome"}' }] },
    { role: 'assistant', text: 'It is warm.' },
    said,
  ]);
  expect([reads, replays.inUse]).toEqual([[key], 0]);
  expect(await named(said)).toEqual([said]);
  expect(reads).toHaveLength(1);
});

test('A8/89: what is unknown, not there yet, not stored or not to be seen is refused alike', async () => {
  const hiddenKey = `agent:main:api:openai-unstored-${'x'.repeat(22)}` as SessionKey;
  const unstored = runIdOf(hiddenKey, 'one');
  const ids = ['msg_1.0', 'msg_', 'what', `msg_${runIdOf(key, 'four')}`, `msg_${third}`, `rs_${second}_2`, `msg_${unstored}`];
  for (const id of [...ids, `fc_${third}.1.0`]) {
    const refused = { status: 404, code: 'item_not_found', param: 'input', message: expect.stringContaining(JSON.stringify(id)) };
    await expect(rig().named(reference(id)), id).rejects.toMatchObject(refused);
  }
  const passing = rig([hiddenKey]);
  await expect(passing.named(reference(`msg_${unstored}`))).rejects.toMatchObject({ code: 'item_not_found' });
  expect(passing.reads).toEqual([]);
  const theirs = rig([]);
  await expect(theirs.named(reference(`msg_${first}`))).rejects.toMatchObject({ status: 404, code: 'item_not_found' });
  expect(theirs.reads).toEqual([]);
});

test('I11: one request reads few sessions, and a caller few long ones at once', async () => {
  const many = Array.from({ length: 9 }, (_, at) => reference(`msg_${runIdOf(`agent:main:api:s${at}` as SessionKey, 'one')}`));
  const { named, reads } = rig();
  await expect(named(...many)).rejects.toMatchObject({ code: 'invalid', field: 'input' });
  expect(reads).toEqual([]);
  const atOnce = async ({ named: ask }: ReturnType<typeof rig>) =>
    (await Promise.allSettled([1, 2].map(() => ask(reference(`msg_${first}`))))).map(({ status }) => status);
  expect(await atOnce(rig())).toEqual(['fulfilled', 'fulfilled']);
  expect(await atOnce(rig([key], 1_000_000))).toEqual(['fulfilled', 'rejected']);
});

test('a type may be left out, as the official clients may', () => {
  expect(inputItem.parse({ id: 'msg_1' })).toEqual({ itemId: 'msg_1' });
  expect(inputItem.parse({ type: null, id: 'msg_1' })).toEqual({ itemId: 'msg_1' });
  expect(inputItem.parse({ role: 'assistant', id: 'msg_1', content: 'x' })).toEqual({ role: 'assistant', text: 'x' });
});

test('what a model thought is shown to those who asked for it alone, even where it is recorded because it is signed', () => {
  const thought = (more: object) => {
    const answer = new Answer(first);
    const events = [...begun(first, more), step(first, 1, 'x', { reasoning: [{ text: 'A city.', signature: 's' }] })];
    answer.take({ ...log[0], events } as unknown as RecordedCommit, { run: null, turnId: first });
    return answer.thoughts;
  };
  expect(thought({ client })).toEqual([{ step: 1, text: 'A city.' }]);
  expect(thought({})).toEqual([]);
});
