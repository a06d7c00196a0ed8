import { pino } from 'pino';
import { vi } from 'vitest';
import { startIntrospection } from '../../../../services/checkpoint/introspection/start.ts';
import { startSession } from '../../../../services/session/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { OfflineModel } from '../../../../shared/adapters/model/offline.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { MemoryEntry } from '../../../../shared/domain/memory/memory-entry.ts';
import type { ModelRequest } from '../../../../shared/domain/prompt/model-request.ts';
import type { SessionCommand } from '../../../../shared/domain/session/commands.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { EventOf, EventType } from '../../../../shared/domain/session/events.ts';
import type { StepOutcome } from '../../../../shared/domain/values/types.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import type { MemoryView } from '../../../../shared/ports/memory-store.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import type { Service } from '../../../../shared/runtime/service.ts';
import { afterwards } from '../../../support/afterwards.ts';

/** Time that runs 50 times as fast: pauses of a minute are tests of a second. */
export const clock: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * 50,
  sleep: (ms, signal) => systemClock.sleep(ms / 50, signal),
};

const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
export const reply = (text: string): StepOutcome => ({ kind: 'reply', text, model: 'scripted', usage });
export const answerOf = (change: object = {}): StepOutcome =>
  reply(JSON.stringify({ workingMemory: 'w', description: 'd', memory: [], ...change }));
export const failure = (code: string): StepOutcome => ({ kind: 'failed', code, message: `it says ${code}` });

/** Changes that do not say what they rest on rest on the first line that counts. */
const resting = (outcome: StepOutcome, { prompt }: ModelRequest): StepOutcome => {
  const [, line = '0'] = /"line":(\d+)/.exec(prompt) ?? [];
  if (outcome.kind !== 'reply' || !outcome.text.startsWith('{')) return outcome;
  const { memory, ...answer } = JSON.parse(outcome.text);
  return {
    ...outcome,
    text: JSON.stringify({ ...answer, memory: memory.map((one: object) => ({ from: [Number(line)], ...one })) }),
  };
};
/** A model that answers what the test says, and keeps what it was asked. */
export const scripted = (answer: (request: ModelRequest, asked: number) => StepOutcome, windowTokens = 128_000) => {
  const asked: ModelRequest[] = [];
  const model: Model = {
    name: 'scripted',
    windowTokens,
    step: async (request) => {
      asked.push(request);
      return resting(answer(request, asked.length), request);
    },
  };
  return { model, asked };
};
/** The offline model, and what it was asked. */
export const watched = (windowTokens?: number) => {
  const offline = new OfflineModel(clock, windowTokens);
  const asked: ModelRequest[] = [];
  const model: Model = {
    name: 'offline',
    windowTokens: offline.windowTokens,
    step: (request, onText, signal) => {
      asked.push(request);
      return offline.step(request, onText, signal);
    },
  };
  return { model, asked };
};

/** All memories that there are, and how far the log is in them; a view gives those of the scopes that it is asked for. */
export const memoriesFrom = (
  entries: readonly { id: string; scope: string; text: string }[],
  position = (): number => Number.MAX_SAFE_INTEGER,
) => {
  const all = entries as unknown as readonly MemoryEntry[];
  const view: Pick<MemoryView, 'list' | 'position' | 'close'> = {
    list: ({ scopes, limit }) => all.filter(({ scope }) => scopes === 'all' || scopes.includes(scope)).slice(0, limit),
    position,
    close: async () => {},
  };
  return { watch: async () => view } as unknown as Ports['memory'];
};

/** A session host on a broker in memory, and introspection where the test wants it. */
export const openRoom = async (given: { memories?: Ports['memory']; config?: object } = {}) => {
  const config = configSchema.parse(given.config ?? {});
  const system = openInMemory({ clock });
  const ports = system.portsFor('test');
  const log = pino({ level: 'silent' });
  const host = await startSession({ config, ports: system.portsFor('host'), log, member: 'host', env: {} });
  afterwards(() => host.stop(1_000));
  let sent = 0;

  const send = async (key: string, data: SessionCommand): Promise<string | undefined> => {
    const id = `c${++sent}`;
    const answer = ports.answers.wait(id, 250_000);
    const envelope = { id, key: key as SessionKey, at: Date.now(), correlationId: id, causationId: id, actor: 'test' };
    await ports.commands.publish({ ...envelope, answerTo: ports.answers.address, data });
    return (await answer)?.outcome;
  };
  const commitsOf = async (key: string): Promise<RecordedCommit[]> => {
    const commits: RecordedCommit[] = [];
    for await (const commit of ports.events.read(key as SessionKey)) commits.push(commit);
    return commits;
  };
  const eventsOf = async <T extends EventType>(key: string, type: T): Promise<EventOf<T>[]> =>
    (await commitsOf(key)).flatMap(({ events }) => events.filter((event): event is EventOf<T> => event.type === type));
  return {
    system,
    ports,
    send,
    commitsOf,
    eventsOf,
    /** Somebody says something that is only remembered. */
    say: (key: string, text: string, person = 'ann', sessionId = 's1') =>
      send(key, {
        type: 'append_message',
        sessionId,
        message: { messageId: `m${sent}`, text, sender: { id: person, principal: `irc:${person}` } },
      }),
    askFor: (key: string) => send(key, { type: 'request_checkpoint', why: { reason: 'manual' } }),
    start: async (
      model: Model = watched().model,
      member = 'one',
      change: Partial<Ports> = {},
    ): Promise<Omit<Service, 'name'>> => {
      const own = { ...system.portsFor(member), memory: given.memories ?? memoriesFrom([]), ...change };
      const service = await startIntrospection({ config, ports: own, log, member, model });
      afterwards(() => service.stop(1_000));
      return service;
    },
    /** Nothing waits to be introspected. */
    settled: async (): Promise<void> => {
      const { lastSeq } = await ports.events.info();
      await until(async () => {
        if ((await ports.cursors.get('checkpoint-requests')).seq < lastSeq) throw new Error('not dispatched');
        if ((await ports.checkpoints.lag()) > 0) throw new Error('not done');
      });
    },
  };
};

export const until = <T>(check: () => T): Promise<Awaited<T>> => vi.waitFor(check, { interval: 5 }) as Promise<Awaited<T>>;

/** What was introspected, as `from-to` of each event. */
export const rangesOf = (events: readonly EventOf<'introspected'>[]): string[] =>
  events.map(({ fromRev, toRev }) => `${fromRev}-${toRev}`);
