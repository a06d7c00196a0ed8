import { describe, expect, test } from 'vitest';
import { startWhole, type Whole } from '../../system/whole.ts';
import { pathOf } from '../setup.ts';
import { clientFor, readChunks, user } from './openai-rig.ts';

/** D9: OpenAI's client gives up before the answer is there and sends the call again by itself, each time to the next of two gateways. */
const start = async ({ isCut = false } = {}) => {
  const whole = await startWhole({ gateways: 2 });
  const urls = whole.gateways.map(({ url }) => url);
  const calls: string[] = [];
  const sessions: string[] = [];
  const alternating: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const [first = '', second = ''] = urls;
    calls.push(new Headers(init?.headers).get('x-stainless-retry-count') ?? 'none');
    const answer = await fetch(String(input).replace(url.origin, calls.length % 2 === 1 ? first : second), init);
    sessions.push(decodeURIComponent(answer.headers.get('x-natter-session') ?? ''));
    if (!isCut || calls.length > 1) return answer;
    await answer.body?.cancel();
    throw new TypeError('cut off');
  };
  const impatient = { timeout: 200, maxRetries: 3 };
  const textsIn = async (key: string): Promise<string[]> =>
    (await whole.as.owner('GET', pathOf(key, '/messages'))).body.messages.map(({ text }: { text: string }) => text);
  return {
    whole,
    urls,
    calls,
    sessions,
    textsIn,
    impatient,
    openai: clientFor(urls[0] ?? '', 'owner', { ...impatient, fetch: alternating }),
  };
};
/** The sessions in the log. */
const begun = ({ memory }: Whole): readonly string[] => [...new Set(memory.events.stored().map(({ key }) => key))];
const slow = 'hello [[think 450]]';
const reply = 'You said: hello';
const asked = { model: 'natter', messages: [user(slow)], user: 'ann' };

describe("a client's own retry is no second message", () => {
  test('the retry waits for the run of the first attempt and returns its answer, from any gateway', async () => {
    const { openai, calls, sessions, textsIn } = await start();
    const { choices } = await openai.chat.completions.create(asked);
    expect(choices[0]?.message.content).toBe(reply);
    expect(calls.length).toBeGreaterThan(1);
    expect(await textsIn(sessions.at(-1) ?? '')).toEqual([slow, reply]);
  });

  test('who says the same thing twice is heard twice', async () => {
    const { openai, calls, sessions, textsIn } = await start();
    for (let times = 0; times < 2; times++) await openai.chat.completions.create(asked);
    expect(calls.filter((count) => count === '0')).toHaveLength(2);
    expect((await textsIn(sessions.at(-1) ?? '')).filter((text) => text === slow)).toHaveLength(2);
  });

  test('a stream that was cut off before its first byte is begun again, with the same run', async () => {
    const { openai, calls, sessions, textsIn } = await start({ isCut: true });
    const { text } = await readChunks(await openai.chat.completions.create({ ...asked, stream: true }));
    expect(text).toBe(reply);
    expect(calls.length).toBeGreaterThan(1);
    expect((await textsIn(sessions.at(-1) ?? '')).filter((said) => said === slow)).toHaveLength(1);
  });

  const { user: _, ...fresh } = asked;

  test('without a session of a name it finds the one of the first attempt, from any gateway', async () => {
    const { whole, openai, calls, sessions, textsIn } = await start();
    const { choices } = await openai.chat.completions.create(fresh);
    expect(choices[0]?.message.content).toBe(reply);
    expect(calls.length).toBeGreaterThan(1);
    expect(begun(whole)).toEqual([sessions.at(-1)]);
    expect(await textsIn(sessions.at(-1) ?? '')).toEqual([slow, reply]);
  });

  test('the same of a stream that was cut off; who asks the same thing twice has two sessions', async () => {
    const { whole, openai, sessions, textsIn } = await start({ isCut: true });
    for (let times = 0; times < 2; times++) {
      const { text } = await readChunks(await openai.chat.completions.create({ ...fresh, stream: true }));
      expect(text).toBe(reply);
    }
    expect(begun(whole)).toHaveLength(2);
    for (const key of new Set(sessions)) expect(await textsIn(key)).toEqual([slow, reply]);
  });
});
