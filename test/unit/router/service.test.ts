import { afterEach, describe, expect, test, vi } from 'vitest';
import { startRouter } from '../../../services/router/main.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { type Config, configSchema } from '../../../shared/domain/config/schema.ts';
import { inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { revoke } from '../../../shared/domain/routing/pairing.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { CommandBus, Consumption } from '../../../shared/ports/work-queue.ts';
import { type Current, fixed } from '../../../shared/runtime/config/reload.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** A router on a broker in memory, and the commands that come out. */
const open = async (
  publish?: (original: CommandBus['publish']) => CommandBus['publish'],
  config: Current<Config> = fixed(configSchema.parse({})),
) => {
  const system = openInMemory({ clock: systemClock, queues: { ackWaitMs: 100 } });
  const ports = system.portsFor('test');
  const commands: CommandEnvelope[] = [];
  const handle = async ({ message }: { message: CommandEnvelope }) => {
    commands.push(message);
    return { kind: 'done' } as const;
  };
  const consumption: Consumption = await ports.commands.consume({ member: 'host', handle });
  const original: CommandBus['publish'] = (command) => ports.commands.publish(command);
  const commandsPort = publish ? Object.assign(Object.create(ports.commands), { publish: publish(original) }) : ports.commands;
  const router = await startRouter({
    config,
    ports: { ...ports, commands: commandsPort },
    log: createLog({ level: 'silent', name: 'test' }),
    member: 'router',
  });
  closing.push(
    () => router.stop(1_000),
    () => consumption.close(1_000),
  );
  const say = (id: string, conversation = '1', kind = 'group') =>
    ports.inbound.publish(
      inboundEnvelope.parse({
        id,
        channel: 'irc',
        conversation: { id: conversation, kind },
        sender: { id: 'ann' },
        text: id,
        at: 1,
      }),
    );
  return { ports, router, commands, say };
};

describe('the router', () => {
  test('publishes one command for each envelope, in order', async () => {
    const { say, commands, router } = await open();
    for (const id of ['a', 'b', 'c', 'd']) await say(id);
    await vi.waitFor(() => expect(commands.map(({ causationId }) => causationId)).toEqual(['a', 'b', 'c', 'd']));
    expect(router.metrics()).toMatchObject({ routed_total: 4, unroutable_total: 0 });
  });

  test('puts what no session can have among the dead letters, with the reason, and goes on', async () => {
    const { say, commands, ports } = await open();
    await say('bad', 'not a key');
    await say('good');
    await vi.waitFor(() => expect(commands).toHaveLength(1));
    await vi.waitFor(async () =>
      expect(await ports.deadLetters.list(9)).toMatchObject([{ reason: expect.stringMatching(/^conversation\.id: /) }]),
    );
  });

  test('waits while commands cannot be published, and then routes once and in order', async () => {
    let calls = 0;
    const { say, commands } = await open((original) => async (command) => {
      calls += 1;
      if (calls === 1) throw new NatterError('unavailable', 'no broker');
      const done = await original(command);
      if (calls === 2) throw new NatterError('unavailable', 'the answer got lost');
      return done;
    });
    await say('a');
    await say('b');
    await vi.waitFor(() => expect(commands.map(({ causationId }) => causationId)).toEqual(['a', 'b']));
  });

  test('gives up on a command that is too large to publish', async () => {
    const { say, ports } = await open((original) => async (command) => {
      if (command.causationId === 'large') throw new NatterError('too_large', 'message of 300000 bytes');
      return original(command);
    });
    await say('large');
    await vi.waitFor(async () => expect(await ports.deadLetters.list(9)).toMatchObject([{ reason: 'message of 300000 bytes' }]));
  });

  test('A3/31: drops what the configuration does not let in: counted, and no dead letter', async () => {
    const allowlist = fixed(configSchema.parse({ channels: { irc: { dmPolicy: 'allowlist' } } }));
    const { say, commands, router, ports } = await open(undefined, allowlist);
    await say('direct', 'ann', 'direct');
    await say('group');
    await vi.waitFor(() => expect(commands.map(({ causationId }) => causationId)).toEqual(['group']));
    await vi.waitFor(() => expect(router.metrics()).toMatchObject({ dropped_total: 1, routed_total: 1, unroutable_total: 0 }));
    expect(await ports.deadLetters.list(9)).toEqual([]);
  });

  test('A14/140: follows its configuration', async () => {
    let config = configSchema.parse({});
    const { say, commands } = await open(undefined, { current: () => config });
    await say('before', 'ann', 'direct');
    await vi.waitFor(() => expect(commands.map(({ key }) => key)).toEqual(['agent:main:main']));
    config = configSchema.parse({ session: { dmScope: 'per-channel-peer' } });
    await say('after', 'ann', 'direct');
    await vi.waitFor(() => expect(commands.map(({ key }) => key)).toEqual(['agent:main:main', 'agent:main:irc:dm:ann']));
  });
});

describe('pairing at the router (D8)', () => {
  const settings = { agent: { owners: ['irc:boss'] }, channels: { irc: { dmPolicy: 'pairing' } } };
  const noticeOf = ({ data }: CommandEnvelope): string => (data.type === 'post_notice' ? (data.notice.text ?? '') : data.type);
  /** A router, and somebody who writes to it directly. */
  const opened = async () => {
    const rig = await open(undefined, fixed(configSchema.parse(settings)));
    const write = async (
      sender: string,
      text: string,
      id = `m${rig.commands.length}-${Number(rig.router.metrics().dropped_total)}`,
    ): Promise<string> => {
      const [at, dropped] = [rig.commands.length, rig.router.metrics().dropped_total ?? 0];
      const envelope = { id, channel: 'irc', conversation: { id: sender, kind: 'direct' }, sender: { id: sender }, text, at: 1 };
      await rig.ports.inbound.publish(inboundEnvelope.parse(envelope));
      await vi.waitFor(() =>
        expect(rig.commands.length + Number(rig.router.metrics().dropped_total)).toBeGreaterThan(at + Number(dropped)),
      );
      const [command] = rig.commands.slice(at);
      return command === undefined ? 'dropped' : noticeOf(command);
    };
    return { ...rig, write };
  };
  const codeIn = (notice: string): string => /approve the code ([A-Z2-9]{8});/.exec(notice)?.[1] ?? `no code in "${notice}"`;

  test('D8: a stranger is told a code once, the owner approves it in the chat, the next message passes, and revoking ends that', async () => {
    const { write, ports, router, commands } = await opened();
    const code = codeIn(await write('ann', 'my secret'));
    expect(commands[0]).toMatchObject({ key: 'agent:main:irc:default:dm:ann', actor: 'irc:ann' });
    expect(await write('ann', 'hello?')).toBe('dropped');
    expect(JSON.stringify([commands, await ports.pairings.all()])).not.toContain('my secret');
    expect(await write('boss', `/pair ${code.toLowerCase()}`)).toBe('Approved: irc:ann may write to me now.');
    expect(await write('ann', 'now?')).toBe('post_message');
    expect(await ports.audit.page({ limit: 9 })).toMatchObject({
      records: [{ kind: 'pairing_approved', actor: 'irc:boss', target: 'irc:ann', outcome: 'ok' }],
    });
    await ports.pairings.change('irc', (record) => revoke(record, 'ann'));
    expect(codeIn(await write('ann', 'and now?'))).toMatch(/^[A-Z2-9]{8}$/);
    expect(router.metrics()).toMatchObject({ pairing_notices_total: 2, dropped_total: 1, unroutable_total: 0 });
  });

  test('D8: wrong codes are told, and soon not even looked at', async () => {
    const { write } = await opened();
    await write('ann', 'hi');
    const answers = [];
    for (let guess = 0; guess < 12; guess++) answers.push(await write('boss', `/pair ${guess}`));
    expect(answers[0]).toMatch(/^Nothing was approved: no such code waits/);
    expect(answers.at(-1)).toMatch(/^Nothing was approved: this caller names wrong pairing codes, more than 10 a minute/);
  });

  test('D8: nobody is approved before the audit trail has it', async () => {
    const { write, ports } = await opened();
    const code = codeIn(await write('ann', 'hi'));
    const pairedThen: unknown[] = [];
    vi.spyOn(ports.audit, 'append').mockImplementation(async () => {
      pairedThen.push((await ports.pairings.all()).flatMap(({ paired }) => paired));
      if (pairedThen.length === 1) throw new NatterError('unavailable', 'full');
    });
    expect(await write('boss', `/pair ${code}`)).toMatch(/^Approved/);
    expect(pairedThen).toEqual([[], []]);
  });
});
