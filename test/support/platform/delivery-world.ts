import pino from 'pino';
import { createDeliveryLog } from '../../../services/delivery/delivery-log.ts';
import { createDeliveryWorker } from '../../../services/delivery/delivery-worker.ts';
import { createOutbox, type Outbox } from '../../../services/delivery/outbox.ts';
import { ParkedAccounts } from '../../../services/delivery/parked-accounts.ts';
import type { Reading } from '../../../services/delivery/waiting.ts';
import { createInMemoryCustodyLog } from '../../../shared/adapters/in-memory/custody-log.ts';
import { InMemoryKeyValue } from '../../../shared/adapters/in-memory/kv-store.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CustodyLog, CustodyRecord, Outbound } from '../../../shared/ports/custody-log.ts';
import type { FindResult, OutboundPart, Outlet, SendResult } from '../../../shared/ports/outlet.ts';
import { VirtualClock } from '../../sim/world/virtual-clock.ts';
import { type StoredMessage, violationsOf } from './verdict.ts';

/** What happens to one send. `killed`: the process ends there. `late`: it takes longer than the others. */
export const happenings = [
  ...(['ok', 'stored_unheard', 'not_stored_unheard', 'busy', 'rate_limit', 'long_rate_limit', 'invalid', 'revoked'] as const),
  ...(['killed_before', 'killed_after', 'late', 'gone'] as const),
] as const;
export type Happening = (typeof happenings)[number];

export interface Story {
  /** The number of parts of each reply, and to whom it goes. */
  readonly replies: readonly { readonly parts: number; readonly to: string }[];
  readonly happenings: readonly Happening[];
  /** Writes of custody, counted from 1, after which the process is killed; negative ones are not stored. */
  readonly kills: readonly number[];
  readonly by: Outlet['unknownSend']['by'];
}

/** What a test may change, to see that it is noticed. */
export interface Planted {
  custody?(custody: CustodyLog): CustodyLog;
  send?(result: SendResult): SendResult;
  find?(result: FindResult): FindResult;
  recognises?: boolean;
  settlesMs?: number;
}

const paragraph = (reply: number, part: number): string => `Reply **${reply}** part ${part} ${'x'.repeat(60)}.`;
const limit = { maximumLength: 100 };

/** Plays a story with the outbox and the worker of delivery, on virtual time. Resolves with what is wrong at the end. */
export const play = async (story: Story, planted: Planted = {}): Promise<{ problems: string[]; states: string[] }> => {
  const clock = new VirtualClock(1_700_000_000_000);
  const stored: (StoredMessage & { messageId: string })[] = [];
  const finals = new Map<string, CustodyRecord>();
  const late: Promise<void>[] = [];
  const taken = new Set<string>();
  const left = { happenings: [...story.happenings], writes: 0 };
  const kept = createInMemoryCustodyLog(new InMemoryKeyValue({ clock }));
  const custody = planted.custody?.(kept) ?? kept;
  const outbounds = story.replies.map(({ parts, to }, index): Outbound => {
    const text = Array.from({ length: parts }, (_, part) => paragraph(index, part + 1)).join('\n\n');
    const of = { key: 'agent:main:main' as SessionKey, target: { channel: 'chat', to }, kind: 'assistant_message' as const };
    return { id: `${index + 1}.0`, seq: index + 1, ...of, text, turnId: 't' };
  });

  const store = ({ id, target }: OutboundPart): string => {
    const known = stored.find((message) => message.id === id);
    if (known !== undefined && story.by === 'key' && planted.recognises !== false) return known.messageId;
    const messageId = `m${stored.length}`;
    stored.push({ id, to: target.to, messageId });
    return messageId;
  };

  const isTaken = ({ id }: OutboundPart): boolean => taken.has(id) || stored.some((message) => message.id === id);

  /** One process, until everything is final or it is killed. */
  const runProcess = async (): Promise<boolean> => {
    const held = new AbortController();
    let die = (): void => {};
    const dead = new Promise<false>((resolve) => {
      die = () => {
        held.abort();
        resolve(false);
      };
    });
    const never = <T>(): Promise<T> => {
      die();
      return new Promise<T>(() => {});
    };
    const append: CustodyLog['append'] = async (record, expectedSeq) => {
      if (held.signal.aborted) return new Promise(() => {});
      left.writes += 1;
      if (story.kills.includes(-left.writes)) return never();
      const seq = await custody.append(record, expectedSeq);
      if (seq !== null && ['delivered', 'partial', 'unknown', 'failed'].includes(record.state))
        finals.set(record.outboundId, record);
      return story.kills.includes(left.writes) ? never() : seq;
    };
    const happen = async (part: OutboundPart): Promise<SendResult> => {
      const refused = (failure: (SendResult & { kind: 'refused' })['failure'], afterMs = 0): SendResult => ({
        ...{ kind: 'refused', failure, afterMs, detail: failure },
      });
      switch (left.happenings.shift() ?? 'ok') {
        case 'late':
          late.push(clock.sleep(3_000));
          taken.add(part.id);
          await late.at(-1);
          return { kind: 'sent', messageId: store(part) };
        case 'ok':
          return { kind: 'sent', messageId: store(part) };
        case 'stored_unheard':
          store(part);
          return { kind: 'unknown', detail: 'cut' };
        case 'not_stored_unheard':
          return { kind: 'unknown', detail: 'cut' };
        case 'busy':
          return refused('transient');
        case 'rate_limit':
          return refused('rate_limit', 1_000);
        case 'long_rate_limit':
          return refused('rate_limit', 3_600_000);
        case 'invalid':
          // A platform that has taken a text does not refuse it.
          return isTaken(part) ? { kind: 'sent', messageId: store(part) } : refused('invalid');
        case 'revoked':
          return refused('auth');
        case 'gone':
          return stored.some(({ id }) => id === part.id) ? { kind: 'sent' } : refused('gone');
        case 'killed_before':
          return never();
        case 'killed_after':
          store(part);
          return never();
      }
    };
    const find = async ({ id }: OutboundPart): Promise<FindResult> => {
      const found = stored.find((message) => message.id === id);
      return found === undefined ? { kind: 'not_sent' } : { kind: 'sent', messageId: found.messageId };
    };
    const ask = {
      ...{ by: 'ask' as const, settlesMs: planted.settlesMs ?? 10_000 },
      find: async (part: OutboundPart) => planted.find?.(await find(part)) ?? find(part),
    };
    const outlet: Outlet = {
      ...{ channel: 'chat', attempts: 100, limit, unknownSend: story.by === 'ask' ? ask : { by: story.by } },
      send: async (part) => {
        const result = await happen(part);
        return planted.send?.(result) ?? result;
      },
    };
    const log = pino({ level: 'silent' });
    const common = { clock, random: () => 0.5, held: held.signal };
    const deliver = createDeliveryWorker({
      ...common,
      ...{ outlets: [outlet], log, stopping: held.signal, accounts: new ParkedAccounts(clock, log) },
      deliveryLog: createDeliveryLog({ ...common, custody: { ...custody, append }, member: 'one' }),
      report: async () => {},
      revised: (outbound) => outbound,
      recorded: () => {},
    });
    const outbox = createOutbox({ after: 0, held: held.signal, clock, deliver });
    for (const outbound of outbounds) await outbox.accept(outbound.seq, [outbound]);
    return Promise.race([dead, toTheEnd(outbox, held.signal)]);
  };

  const toTheEnd = async (outbox: Outbox, killed: AbortSignal): Promise<true> => {
    for (await outbox.settled(); outbox.waiting() > 0 && !killed.aborted; await outbox.settled()) {
      await clock.sleep(60_000, killed);
      const reading = outbox.due(clock.now());
      for (const outbound of reading === null ? [] : outbounds.filter(({ seq }) => seq > reading.after))
        if (!(await outbox.acceptAgain(outbound.seq, [outbound], reading as Reading))) break;
    }
    return true;
  };

  // A receiver that is gone cannot say any more what it got before.
  const canKnow = story.by !== 'neither' && !story.happenings.includes('gone');
  let isOver = false;
  const processes = async (): Promise<void> => {
    while (!(await runProcess())) {
      await clock.sleep(1_000);
      // Nothing holds off what a dead process has on its way to a platform that cannot be asked.
      if (!canKnow) await Promise.all(late);
    }
    isOver = true;
  };
  const all = processes();
  while (!isOver) await clock.pass(60_000);
  await all;
  const problems = violationsOf({ outbounds: outbounds.map(({ id }) => id), stored, finals, canKnow });
  return { problems, states: outbounds.map(({ id }) => finals.get(id)?.state ?? 'none') };
};
