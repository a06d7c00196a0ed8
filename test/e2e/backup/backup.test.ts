import { expect, test } from 'vitest';
import { isFinal } from '../../../services/delivery/delivery-state.ts';
import { digestOf } from '../../support/files.ts';
import {
  answersIn,
  backUpTo,
  broker,
  command,
  envelope,
  freshFolder,
  keyOf,
  provisioned,
  restoreFrom,
  running,
  until,
} from './rig.ts';

/** Natter's own streams, as the backup names them. */
const [inbound, commands, events, deliveries, audit] = ['INBOUND', 'COMMANDS', 'EVENTS', 'DELIVERIES', 'AUDIT'].map(
  (name) => `NATTER_${name}`,
);

test('a backup under load: what was acknowledged before it is answered exactly once, and nothing that was sent is sent again', async () => {
  const old = await provisioned();
  const before = await running(old);
  const people = Array.from({ length: 12 }, (_, n) => `p${n}`);
  const accepted: string[] = [];
  let more = true;
  const loads = people.map(async (person) => {
    for (let n = 0; more; n++) {
      await before.ports.inbound.publish(envelope(person, `${person} says ${n}`));
      accepted.push(`You said: ${person} says ${n}`);
    }
  });
  await until(() => expect(before.sent.length).toBeGreaterThan(30));
  const sure = accepted.slice();
  const dir = await freshFolder();
  const manifest = await backUpTo(dir, old.url);
  more = false;
  await Promise.all(loads);
  await before.stop();
  await old.stop();

  const server = await broker();
  const { log } = await restoreFrom(dir, server.url);
  expect(log).toEqual(manifest.log);
  const { ports: restored } = await running(server, []);
  const toTargets = people.map((person) => restored.custody.last({ channel: 'hook', to: person }));
  // What was only prepared, or on its way, when the backup was taken is sent by the restored system.
  const sentBefore = (await Promise.all(toTargets)).map((last) => {
    const { outboundSeq = 0, state = 'delivered' } = last?.record ?? {};
    return isFinal(state) ? outboundSeq : outboundSeq - 1;
  });
  const after = await running(server);
  await until(async () => {
    expect([await after.ports.inbound.lag(), await after.ports.commands.lag()]).toEqual([0, 0]);
    const answers = await answersIn(after, people);
    expect(sure.filter((text) => !answers.has(text))).toEqual([]);
  });
  const answers = await answersIn(after, people);
  expect([...answers].filter(([, times]) => times !== 1)).toEqual([]);
  await until(() => expect(new Set(after.sent.map(({ id }) => id)).size).toBe(after.sent.length));
  for (const { target, seq } of after.sent) expect(seq).toBeGreaterThan(sentBefore[people.indexOf(target.to)] ?? 0);
  await until(() => expect(after.problems()).toEqual([]));
}, 120_000);

test('the queue of envelopes before that of commands: what is routed in between is answered once', async () => {
  const old = await provisioned();
  const before = await running(old, ['session']);
  await before.ports.inbound.publish(envelope('ann', 'hello'));
  const dir = await freshFolder();
  const { streams } = await backUpTo(dir, old.url, async (stream) => {
    if (stream !== commands) return;
    await running(old, ['router']);
    await until(async () => expect(await before.ports.inbound.lag()).toBe(0));
  });
  expect(streams.find(({ name }) => name === inbound)?.messages).toBe(1);
  await before.stop();
  await expectAnswers(dir, ['hello']);
});

test('the queue of commands before the log: what is done in between is not done again', async () => {
  const old = await provisioned();
  const before = await running(old, []);
  await before.ports.commands.publish(command('ann', 'hello'));
  const dir = await freshFolder();
  const { streams } = await backUpTo(dir, old.url, async (stream) => {
    if (stream !== events) return;
    const host = await running(old, ['session']);
    await until(async () => expect([...(await answersIn(host, ['ann'])).keys()]).toHaveLength(1));
  });
  expect(streams.find(({ name }) => name === commands)?.messages).toBe(1);
  const server = await broker();
  await restoreFrom(dir, server.url);
  const after = await running(server, []);
  expect(await after.ports.commands.lag()).toBe(0);
});

test('a command that is published after its queue was taken and done after the log was is in the backup', async () => {
  const old = await provisioned();
  const before = await running(old, []);
  const dir = await freshFolder();
  await backUpTo(dir, old.url, async (stream) => {
    if (stream === events) await before.ports.commands.publish(command('ann', 'hello'));
    if (stream === deliveries) {
      const host = await running(old, ['session']);
      await until(async () => expect([...(await answersIn(host, ['ann'])).keys()]).toHaveLength(1));
      await host.stop();
    }
  });
  await expectAnswers(dir, ['hello']);
});

test('the log before the deliveries: a record that is ahead of the log holds up nothing', async () => {
  const old = await provisioned();
  const before = await running(old);
  await before.ports.inbound.publish(envelope('ann', 'first'));
  await until(() => expect(before.sent).toHaveLength(1));
  const dir = await freshFolder();
  await backUpTo(dir, old.url, async (stream) => {
    if (stream !== deliveries) return;
    for (const text of ['second', 'third']) await before.ports.inbound.publish(envelope('ann', text));
    await until(() => expect(before.sent).toHaveLength(3));
  });
  await before.stop();
  const server = await broker();
  await restoreFrom(dir, server.url);
  const after = await running(server);
  await after.ports.inbound.publish(envelope('ann', 'new'));
  const wanted = ['second', 'third', 'new'].map((text) => `You said: ${text}`);
  await until(() => expect(after.sent.map(({ text }) => text)).toEqual(wanted));
  // Ids that people saw before the restore never mean anything else.
  const seen = before.sent.map(({ id }) => id);
  expect(after.sent.filter(({ id }) => seen.includes(id))).toEqual([]);
});

test('timers: one that was due during the backup fired once, one that is due later fires once after the restore', async () => {
  const old = await provisioned();
  const before = await running(old);
  const now = Date.now();
  await before.ports.commands.schedule('soon', now + 500, command('ann', 'soon'));
  await before.ports.commands.schedule('later', now + 6_000, command('bob', 'later'));
  const dir = await freshFolder();
  await backUpTo(dir, old.url, async (stream) => {
    if (stream === inbound) await until(async () => expect((await answersIn(before, ['ann'])).size).toBe(1));
    if (stream === commands) await before.ports.commands.schedule('later', now + 6_500, command('carl', 'meanwhile'));
  });
  await before.stop();
  const server = await broker();
  await restoreFrom(dir, server.url);
  const after = await running(server);
  await until(async () => expect(await answersIn(after, ['bob'])).toEqual(new Map([['You said: later', 1]])));
  await until(async () => expect(await answersIn(after, ['carl'])).toEqual(new Map([['You said: meanwhile', 1]])));
  expect(await answersIn(after, ['ann'])).toEqual(new Map([['You said: soon', 1]]));
});

test('the audit trail comes after all that has a record in it, files after all that refers to them; a restore is recorded itself', async () => {
  const old = await provisioned();
  const before = await running(old, []);
  const dir = await freshFolder();
  const file = Buffer.from('a file');
  await backUpTo(dir, old.url, async (stream) => {
    if (stream !== audit) return;
    // A message that is published from now on is in the backup, and so is its file.
    await before.ports.attachments.put(keyOf('ann'), file);
    await before.ports.audit.append({ v: 1, at: 1, kind: 'token_revoked', actor: 'operator:olga', outcome: 'ok' });
  });
  const server = await broker();
  await restoreFrom(dir, server.url);
  const { ports } = await running(server, []);
  expect(await ports.attachments.get(keyOf('ann'), digestOf(file))).toEqual(file);
  const { records } = await ports.audit.page({ limit: 10 });
  expect(records).toMatchObject([{ kind: 'token_revoked' }, { kind: 'log_restored', actor: 'operator:olga', outcome: 'ok' }]);
});

const expectAnswers = async (dir: string, texts: readonly string[]): Promise<void> => {
  const server = await broker();
  await restoreFrom(dir, server.url);
  const after = await running(server);
  const wanted = new Map(texts.map((text) => [`You said: ${text}`, 1]));
  await until(async () => {
    expect([await after.ports.inbound.lag(), await after.ports.commands.lag()]).toEqual([0, 0]);
    expect(await answersIn(after, ['ann'])).toEqual(wanted);
  });
};
