import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import type { GatewayContext } from '../../../services/gateway/context/gateway-context.ts';
import { deleteWhenSent, limitLife } from '../../../services/gateway/protocols/openai/unstored.ts';
import type { Answer } from '../../../services/gateway/runs/answer.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';

/** OpenAI's `store: false`: how long the session of such a call lives. What clients see of it is in test/e2e/gateway/protocols/openai/stored.test.ts. */

const key = `agent:main:api:openai-unstored-${'x'.repeat(22)}` as SessionKey;
const request = { id: 'r', actor: 'program', principal: { role: 'owner', admin: true } } as unknown as FastifyRequest;
const day = 24 * 60 * 60 * 1_000;

const rig = () => {
  const timers = new Map<string, { readonly at: number; readonly due: CommandEnvelope }>();
  const sent: CommandEnvelope[] = [];
  const context = {
    ports: {
      clock: { now: () => 1_000 },
      answers: { address: 'here', wait: async () => ({ outcome: 'accepted' }) },
      commands: {
        schedule: async (name: string, at: number, due: CommandEnvelope) => void timers.set(`${due.key} ${name}`, { at, due }),
        cancel: async (of: SessionKey, name: string) => void timers.delete(`${of} ${name}`),
        publish: async (envelope: CommandEnvelope) => {
          sent.push(envelope);
          return { duplicate: false };
        },
      },
    },
    audit: { command: () => {} },
  } as unknown as GatewayContext;
  const raw = new EventEmitter();
  const sending = (of: SessionKey, answer: object) =>
    deleteWhenSent(context, request, { raw } as unknown as FastifyReply, of)({ calls: [], ...answer } as unknown as Answer);
  return { context, timers, sent, raw, sending };
};

test('it is deleted after a day, with all that is under way in it, unless its client gets the whole answer before', async () => {
  const { context, timers, sent, raw, sending } = rig();
  await limitLife(context, request, key);
  await limitLife(context, request, key);
  const due = { key, data: { type: 'delete_session', mode: 'key' } };
  expect([...timers.values()]).toMatchObject([{ at: 1_000 + day, due }]);
  sending(key, {});
  expect(sent).toEqual([]);
  raw.emit('finish');
  await vi.waitFor(() => expect(timers.size).toBe(0), { timeout: 10_000 });
  expect(sent).toMatchObject([{ key, data: { type: 'delete_session', mode: 'session' } }]);
});

test('it stays while the program has calls to answer, and every other session does', async () => {
  const { sent, raw, sending } = rig();
  sending(key, { calls: [{ callId: 'c' }] });
  sending('agent:main:main' as SessionKey, {});
  expect(raw.listenerCount('finish')).toBe(0);
  raw.emit('finish');
  expect(sent).toEqual([]);
});
