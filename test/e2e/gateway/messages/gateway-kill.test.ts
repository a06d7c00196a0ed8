import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createClient, type NatterClient } from '../../../../shared/client/main.ts';
import { type GatewayProcess, type GatewayRigs, startGateways } from '../gateway-process.ts';
import { afterwards, callerOf, token } from '../setup.ts';

/** Issue 5: the gateway is killed with SIGKILL and started again, several times, while clients of `natter/client` post and follow. */

const kills = 3;
const sessions = ['agent:main:one', 'agent:main:irc:group:two', 'agent:main:irc:group:three'];

let gateways: GatewayRigs;
let gateway: GatewayProcess;
beforeAll(async () => {
  gateways = await startGateways();
  gateway = await gateways.gateway();
});
afterAll(() => gateways.close());

/** How long a post may take over a restart. On a machine with much else to do a gateway is away for many seconds. */
const patienceMs = 60_000;

/** Posts to one session, one after the other, until told to stop; resolves with what it was told is stored. */
const post = async (client: NatterClient, key: string, name: string, stopped: () => boolean): Promise<string[]> => {
  const accepted: string[] = [];
  while (!stopped()) {
    const text = `${name} ${accepted.length}`;
    const { runId } = await client.sessions.post(key, text, { idempotencyKey: text.replace(' ', '-'), patienceMs });
    expect(runId).not.toBe('');
    accepted.push(text);
  }
  return accepted;
};

/** Follows until the event `last` has come; resolves with the ids of all that came. */
const follow = (client: NatterClient, filter: object) => {
  const ids: string[] = [];
  const over = new AbortController();
  let waits = 0;
  const reading = (async () => {
    const onWaiting = () => void waits++;
    for await (const item of client.events({ after: 0, signal: over.signal, onWaiting, ...filter }))
      if ('id' in item) ids.push(item.id);
  })();
  const end = async (): Promise<void> => {
    over.abort();
    await reading;
  };
  return { ids, end, waits: () => waits };
};

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

test('I1, I2: no message that was acknowledged is lost, none is there twice, and streams go on without gap or repeat', async () => {
  const { url } = gateway;
  const client = createClient({ url, token });
  const followers = [{}, { key: sessions[0] }, { keyPrefix: 'agent:main:irc' }, { types: ['assistant_message'] }].map((filter) =>
    follow(client, filter),
  );
  let done = false;
  afterwards(async () => {
    done = true;
  });
  const posting = Promise.all(
    sessions.flatMap((key, at) =>
      ['a', 'b', 'c'].map((who) => post(client, key, `${at}${who}`, () => done).then((texts) => ({ key, texts }))),
    ),
  );
  // A gateway that does not come back says so itself; that posts fail then is no error of its own.
  posting.catch(() => {});
  for (let kill = 0; kill < kills; kill++) {
    const { lastSeq } = await gateways.seen();
    await vi.waitFor(async () => expect((await gateways.seen()).lastSeq).toBeGreaterThan(lastSeq + 40), { interval: 10 });
    await gateway.kill9();
    gateway = await gateways.gateway({ gateway: { port: Number(new URL(url).port) } });
  }
  done = true;
  const posted = await posting;
  const accepted = posted.reduce((sum, { texts }) => sum + texts.length, 0);
  expect(accepted).toBeGreaterThan(kills * 20);

  for (const key of sessions) {
    const wanted = posted.filter((each) => each.key === key).flatMap(({ texts }) => texts);
    const isThere = async (): Promise<void> => {
      const messages = await all(client.sessions.messages(key));
      const [said, replies] = (['user', 'assistant'] as const).map((role) =>
        messages.flatMap((message) => (message.role === role ? [message.text] : [])),
      );
      expect(said?.toSorted()).toEqual(wanted.toSorted());
      expect(replies?.toSorted()).toEqual(wanted.map((text) => `you said: ${text}`).toSorted());
    };
    await vi.waitFor(isThere, { interval: 50 });
  }
  const idsOf = async (query: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let after = '0'; ; ) {
      const page = (await callerOf(url)('GET', `/v1/events?limit=1000&after=${after}${query}`)).body;
      ids.push(...page.events.map(({ id }: { id: string }) => id));
      if (!page.more) return ids;
      after = page.next;
    }
  };
  const queries = ['', `&key=${sessions[0]}`, '&key=agent:main:irc', '&type=assistant_message'];
  for (const [at, { ids, end, waits }] of followers.entries()) {
    const wanted = await idsOf(queries[at] ?? '');
    await vi.waitFor(() => expect(ids).toHaveLength(wanted.length));
    expect(ids).toEqual(wanted);
    expect(waits()).toBeGreaterThanOrEqual(kills);
    await end();
  }
}, 90_000);

test('I1, I2: what a connector was told is accepted right before a kill is there once, however often it is repeated', async () => {
  const { url } = gateway;
  const port = Number(new URL(url).port);
  const envelope = (id: string) => ({
    ...{ id, channel: 'irc', conversation: { id: 'hooks', kind: 'group' }, sender: { id: 'ann' }, text: `said ${id}` },
  });
  const hand = (id: string) => callerOf(url)('POST', '/v1/inbound', { body: envelope(id) });
  const wanted: string[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const [told, open] = ['told', 'open'].map((name) => Array.from({ length: 8 }, (_, at) => `${name}-${kill}-${at}`));
    const answers = await Promise.all((told ?? []).map(hand));
    expect(answers.map(({ status, body }) => [status, body.duplicate])).toEqual(answers.map(() => [202, false]));
    // Some are on their way when it dies, and a repeat of each of the others.
    const cut = Promise.allSettled([...(open ?? []), ...(told ?? [])].map(hand));
    await gateway.kill9();
    await cut;
    await expect(hand(`told-${kill}-0`)).rejects.toThrow();
    gateway = await gateways.gateway({ gateway: { port } });
    const again = await Promise.all((told ?? []).map(hand));
    expect(again.map(({ status, body }) => [status, body.duplicate])).toEqual(again.map(() => [202, true]));
    expect((await Promise.all((open ?? []).map(hand))).map(({ status }) => status)).toEqual((open ?? []).map(() => 202));
    wanted.push(...(told ?? []), ...(open ?? []));
  }
  await vi.waitFor(async () => expect(await gateways.waiting()).toBe(0), { interval: 50 });
  const said = await all(createClient({ url, token }).sessions.messages('agent:main:irc:group:hooks'));
  expect(said.map(({ text }) => text).toSorted()).toEqual(wanted.map((id) => `said ${id}`).toSorted());
}, 90_000);
