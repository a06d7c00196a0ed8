import { describe, expect, test } from 'vitest';
import type { ModelMessage } from '../../../../shared/domain/prompt/model-request.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { post, rig } from '../rig.ts';

/** A model that takes 100 ms and repeats the messages it received: people's in lower case, its own in capitals. */
const listening = (heard: string[]): Parameters<typeof rig>[0] => ({
  model: (clock): Model => ({
    name: 'listening',
    windowTokens: 100_000,
    step: async ({ prompt, messages }) => {
      const words = ({ role, text }: ModelMessage): string => (role === 'user' ? text : text.toUpperCase());
      heard.push(messages.map(words).join(' '));
      await clock.sleep(100);
      return { kind: 'reply', text: prompt, model: 'listening', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
    },
  }),
});

describe('the messages that the model receives when a turn starts', () => {
  test('A5/70: a message that waited comes after the answers given meanwhile', async () => {
    const heard: string[] = [];
    const { take, clock } = rig(listening(heard));
    for (const id of ['a', 'b', 'c']) await take(post(id, id));
    await clock.pass(1_000);
    expect(heard).toEqual(['a', 'a A b', 'a A b B c']);
  });

  test('A5/69: a message without a turn keeps its place in the conversation', async () => {
    const heard: string[] = [];
    const { take, clock } = rig(listening(heard));
    await take(post('a', 'a'));
    await take('append b');
    await take(post('c', 'c'));
    await clock.pass(1_000);
    expect(heard).toEqual(['a', 'a text of b A c']);
  });

  test('A11/125: what /stop has cleared is not heard, what Natter answers neither', async () => {
    const heard: string[] = [];
    const { take, clock } = rig(listening(heard));
    for (const id of ['a', 'b']) await take(post(id, id));
    await clock.pass(50);
    await take('stop-told');
    await take(post('c', 'c'));
    await take('report');
    await clock.pass(1_000);
    await take(post('d', 'd'));
    await clock.pass(1_000);
    expect(heard).toEqual(['a', 'a c', 'a c C d']);
  });

  test('A4/53: of an older generation nothing is heard, whatever waited there', async () => {
    const heard: string[] = [];
    const { take, clock } = rig(listening(heard));
    for (const id of ['a', 'b']) await take(post(id, id));
    await clock.pass(50);
    await take('reset s2 n');
    await take(post('c', 'c'));
    await clock.pass(1_000);
    expect(heard).toEqual(['a', 'text of n', 'text of n TEXT OF N c']);
  });

  test('a turn that waited longer than the window reaches still finds its message', async () => {
    const heard: string[] = [];
    const { take, clock } = rig(listening(heard));
    for (const id of ['a', 'b']) await take(post(id, id));
    for (let i = 0; i < 70; i++) await take(`append n${i}`);
    await clock.pass(1_000);
    expect(heard[1]?.startsWith('a text of n0 ')).toBe(true);
    expect(heard[1]?.endsWith(' A b')).toBe(true);
  });
});
