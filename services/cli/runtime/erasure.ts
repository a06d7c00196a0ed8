import { uuidv7 } from 'uuidv7';
import { openEraser } from '../../../shared/adapters/nats/eraser.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { isErasure } from '../../../shared/domain/session/evolve.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Erased, Eraser } from '../../../shared/ports/eraser.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { type BrokerAddress, withBroker } from './broker.ts';
import { withPorts } from './ports.ts';

/** What was asked for, and by whom; both stay in the log. */
export interface ErasureRequest {
  readonly key: SessionKey;
  readonly actor: string;
  readonly reason: string;
}
/** What came of it. */
export interface ErasureReport extends Erased {
  readonly key: SessionKey;
  /** Where the log says that the session was erased: all before is gone. */
  readonly seq: number;
  /** An earlier run had recorded the erasure; this one has finished it. */
  readonly resumed: boolean;
  /** The session index shows it. False: whoever writes the index is away, and does it when it is back. */
  readonly indexed: boolean;
}

/** How long a session host may take to record it, and the index to follow. */
const answerMs = 30_000;
const indexMs = 5_000;
const lookMs = 100;

/** The last commit of a session. Throws `NatterError('not_found')`. */
export const lastCommit = async ({ events }: Pick<Ports, 'events'>, key: SessionKey): Promise<RecordedCommit> => {
  const last = await events.last(key);
  if (last === null) throw new NatterError('not_found', `there is no session ${key}`);
  return last;
};

/**
 * Erases a session: has its host record the erasure, then removes all that came before (C9). After a failure at any place it is just called
 * again: an erasure that is recorded, and nothing after it, is gone on with. Throws `NatterError('not_found' | 'unavailable')`.
 */
export const eraseSession = async (ports: Ports, eraser: Eraser, request: ErasureRequest): Promise<ErasureReport> => {
  const last = await lastCommit(ports, request.key);
  await auditErasure(ports, request, 'ok');
  try {
    return await eraseAfter(ports, eraser, request, last);
  } catch (error) {
    await auditErasure(ports, request, 'failed').catch(() => {});
    throw error;
  }
};

/** Nothing is erased unheard of: without its record in the audit trail it is not begun. */
const auditErasure = ({ audit, clock }: Ports, { key, actor }: ErasureRequest, outcome: 'ok' | 'failed'): Promise<void> =>
  audit.append({ v: 1, at: clock.now(), kind: 'session_erased', actor, target: key, outcome });

const eraseAfter = async (
  ports: Ports,
  eraser: Eraser,
  request: ErasureRequest,
  last: RecordedCommit,
): Promise<ErasureReport> => {
  const resumed = isErasure(last);
  const seq = resumed ? last.seq : await recordErasure(ports, request);
  const erased = await eraser.erase(request.key, seq);
  return { key: request.key, seq, resumed, ...erased, indexed: await isIndexed(ports, request.key, seq) };
};

/** Asks the session to record that it is erased. Gives the sequence of that. */
const recordErasure = async (ports: Ports, { key, actor, reason }: ErasureRequest): Promise<number> => {
  const { answers, clock, commands, events } = ports;
  const id = uuidv7();
  const answer = answers.wait(id, answerMs);
  const envelope = { id, key, at: clock.now(), correlationId: id, causationId: id, actor, answerTo: answers.address };
  await commands.publish({ ...envelope, data: { type: 'delete_session', mode: 'erased', reason } });
  const told = await answer;
  if (told?.outcome === 'accepted' && told.seq !== undefined) return told.seq;
  if (told?.outcome === 'refused') throw new NatterError('unavailable', `${key} cannot be erased: ${told.message ?? told.code}`);
  // Answers may get lost; the log is the truth.
  const last = await events.last(key);
  if (last?.command.id === id) return last.seq;
  throw new NatterError(
    'unavailable',
    `no session host has answered within ${answerMs / 1_000} s; nothing was removed yet. Start one and erase again`,
  );
};

const isIndexed = async ({ index, clock }: Ports, key: SessionKey, seq: number): Promise<boolean> => {
  const until = clock.monotonic() + indexMs;
  for (;;) {
    if (((await index.get(key))?.seq ?? 0) >= seq) return true;
    if (clock.monotonic() >= until) return false;
    await clock.sleep(lookMs);
  }
};

/** Opens what an erasure works with and closes it afterwards. Throws `NatterError('unavailable')` when the broker is away. */
export const withEraser = async <T>(
  config: Config,
  address: BrokerAddress,
  work: (ports: Ports, eraser: Eraser) => Promise<T>,
): Promise<T> => {
  const { requestTimeoutMs } = config.nats;
  const subjects = subjectsUnder(config.prefix);
  return withBroker(config, address, 'natter erase', (connection) =>
    withPorts(config, address, async (ports) => {
      const { events, snapshots, clock } = ports;
      return work(ports, await openEraser({ connection, subjects, events, snapshots, clock, requestTimeoutMs }));
    }),
  );
};
