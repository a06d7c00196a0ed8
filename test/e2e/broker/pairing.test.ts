import { stripVTControlCharacters } from 'node:util';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { pairingCommand } from '../../../services/cli/commands/operate/pairing.ts';
import { startGateway } from '../../../services/gateway/main.ts';
import { startRouter } from '../../../services/router/main.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { startServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';
import { natter } from '../cli/natter.ts';
import { callerOf, ready, token } from '../gateway/setup.ts';

test('D8: two routers and a gateway agree on who is paired, under the rights that they have at the broker', async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const channels = { irc: { dmPolicy: 'pairing' } };
  const agent = { owners: ['irc:boss'] };
  const config = configSchema.parse({ nats: { partitions: 2 }, gateway: { port: 0 }, channels, agent });
  await provisionFor(server, { partitions: 2 });
  const opened = portsOn(server, config);
  onTestFinished(() => opened.close());
  const log = pino({ level: 'silent' });
  const commands: CommandEnvelope[] = [];
  const handle = async ({ message }: { message: CommandEnvelope }) => {
    commands.push(message);
    return { kind: 'done' } as const;
  };
  const host = await (await opened.as('session')).commands.consume({ member: 'host', handle });
  onTestFinished(() => host.close(1_000));
  for (const member of ['one', 'two']) {
    const router = await startRouter({ config: fixed(config), ports: await opened.as('router'), log, member });
    onTestFinished(() => router.stop(1_000));
  }
  const ports = await opened.as('gateway');
  const gateway = await startGateway({ config: fixed(config), ports, log, token, version: '0' });
  onTestFinished(() => gateway.stop(1_000));
  const call = callerOf(gateway.url, token);
  await ready(call);
  const pairing = async (...words: string[]): Promise<string> => {
    const { out, done } = natter(gateway.url, [pairingCommand], 'pairing', ...words);
    await done;
    return stripVTControlCharacters(out.join('\n'));
  };

  let written = 0;
  /** What a session is told of it. */
  const write = async (sender: string, text: string): Promise<CommandEnvelope['data']> => {
    written += 1;
    const id = `m${written}`;
    const envelope = { id, channel: 'irc', conversation: { id: sender, kind: 'direct' }, sender: { id: sender }, text };
    await ports.inbound.publish(inboundEnvelope.parse(envelope));
    return vi.waitFor(() => commands.find(({ causationId }) => causationId === id)?.data ?? expect.fail('nothing yet'), {
      timeout: 10_000,
      interval: 5,
    });
  };
  const codeOf = async (sender: string): Promise<string> => {
    const data = await write(sender, 'hello');
    return (data.type === 'post_notice' && /the code ([A-Z2-9]{8});/.exec(data.notice.text ?? '')?.[1]) || expect.fail('no code');
  };

  const [ann, bob, eve] = [await codeOf('ann'), await codeOf('bob'), await codeOf('eve')];
  expect((await pairing('list')).match(/[A-Z2-9]{8} .* irc:\w+ +waits/g)).toHaveLength(3);
  expect(await pairing('approve', ' IRC', ann.toLowerCase())).toBe('irc:ann: approved');
  expect(await pairing('deny', 'irc', eve)).toBe('irc:eve: denied');
  await expect(pairing('approve', 'irc', eve)).rejects.toThrow(/no such code waits on this channel/);
  await expect(pairing('approve', 'telegram', bob)).rejects.toThrow(/no such code waits on this channel/);
  expect(await write('boss', `/pair ${bob}`)).toMatchObject({ notice: { text: 'Approved: irc:bob may write to me now.' } });
  for (const sender of ['ann', 'bob']) expect((await write(sender, 'now?')).type).toBe('post_message');
  expect(await pairing('revoke', 'irc', 'ann')).toBe('irc:ann: revoked');
  expect((await write('ann', 'still?')).type).toBe('post_notice');
  const { records } = (await call('GET', '/v1/audit')).body;
  expect(records.map(({ kind, actor, target }: Record<string, string>) => [kind, actor, target])).toEqual([
    ['pairing_approved', 'token:api', 'irc:ann'],
    ['pairing_denied', 'token:api', 'irc:eve'],
    ['pairing_approved', 'irc:boss', 'irc:bob'],
    ['pairing_revoked', 'token:api', 'irc:ann'],
  ]);
});
