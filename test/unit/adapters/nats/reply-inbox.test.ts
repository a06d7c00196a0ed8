import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { ReplyInbox } from '../../../../shared/adapters/nats/client/reply-inbox.ts';

const text = new TextEncoder();

/** An inbox whose requests are answered with `answer`; and how often the headers of that were looked at. */
const inboxAnswered = (answer: { data: string; code: number }) => {
  let looks = 0;
  let receive: (error: Error | null, message: Msg) => void = () => {};
  const connection = {
    subscribe: (_: string, { callback }: { callback: typeof receive }) => (receive = callback),
    publish: (_: string, __: unknown, { reply: subject }: { reply: string }) => {
      const message = {
        ...{ subject, data: text.encode(answer.data) },
        get headers() {
          looks += 1;
          return { code: answer.code };
        },
      };
      setImmediate(() => receive(null, message as unknown as Msg));
    },
  } as unknown as NatsConnection;
  return { inbox: new ReplyInbox(connection), looks: () => looks };
};

test('the client need not parse the headers of an answer with data', async () => {
  const { inbox, looks } = inboxAnswered({ data: '{"seq":7}', code: 0 });
  expect(await inbox.ask('subject', '', { timeoutMs: 10_000 })).toEqual({ seq: 7 });
  expect(looks()).toBe(0);
});

test('an empty answer may say that nobody listens', async () => {
  const { inbox } = inboxAnswered({ data: '', code: 503 });
  await expect(inbox.ask('subject', '', { timeoutMs: 10_000 })).rejects.toThrow('no responders');
});
