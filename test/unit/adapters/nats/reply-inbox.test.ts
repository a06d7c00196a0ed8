import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { afterEach, describe, expect, test, vi } from 'vitest';
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

describe('a request with two replies, of which the second ends it', () => {
  const timeoutMs = 10_000;
  const begun = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let receive: (error: Error | null, message: Msg) => void = () => {};
    let subject = '';
    const connection = {
      subscribe: (_: string, { callback }: { callback: typeof receive }) => (receive = callback),
      publish: (_: string, __: unknown, { reply }: { reply: string }) => (subject = reply),
    } as unknown as NatsConnection;
    let replies = 0;
    const request = new ReplyInbox(connection).request('subject', '', { timeoutMs }, () => ++replies === 2);
    request.catch(() => {});
    return { request, reply: () => receive(null, { subject, data: text.encode('x') } as Msg) };
  };
  /** Time passes, and then what has arrived in it is read. */
  const pass = async (ms: number, arrive = (): void => {}): Promise<void> => {
    vi.advanceTimersByTime(ms);
    arrive();
    await new Promise(setImmediate);
  };
  afterEach(() => void vi.useRealTimers());

  test('fails when nothing comes', async () => {
    const { request } = begun();
    await pass(timeoutMs);
    await expect(request).rejects.toThrow('timeout');
  });

  test('fails when it stops half way', async () => {
    const { request, reply } = begun();
    reply();
    await pass(timeoutMs);
    await expect(request).rejects.toThrow('timeout');
  });

  test('may take longer than the time limit as long as something comes within it', async () => {
    const { request, reply } = begun();
    await pass(timeoutMs - 1, reply);
    await pass(timeoutMs - 1);
    reply();
    await request;
  });

  test('a process that stalls is no silent broker: what has arrived meanwhile is read first', async () => {
    const { request, reply } = begun();
    await pass(2 * timeoutMs, reply);
    reply();
    await request;
  });
});
