import { uuidv7 } from 'uuidv7';
import { openEraser } from '../../../shared/adapters/nats/eraser.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Erased, Eraser } from '../../../shared/ports/eraser.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { brokerFolder } from '../broker/store.ts';
import { syncFolder } from '../broker/sync-folder.ts';
import { type BrokerAddress, withBroker } from './broker.ts';
import { withPorts } from './ports.ts';

/** What to erase, why, and who asked for it; the log keeps actor and reason. */
export interface ErasureRequest {
  readonly key: SessionKey;
  readonly actor: string;
  readonly reason: string;
  /** Erases only if this is still the sequence of its last commit. */
  readonly ifSeq?: number;
  /** Called with the time of the commit that records the erasure, before anything is removed. */
  readonly recorded: (erasure: { readonly key: SessionKey; readonly at: number }) => Promise<void>;
}
/** The outcome of an erasure. */
export interface ErasureReport extends Erased {
  readonly key: SessionKey;
  /** Sequence of the commit that records the erasure: everything before it is gone. */
  readonly seq: number;
  /** True if an earlier run recorded the erasure and this one finished it. */
  readonly resumed: boolean;
  /** True if the session index is updated. False if the checkpoint service is not running; it does it later. */
  readonly indexed: boolean;
}

/** How long to wait for a session host to record the erasure, and for the index to follow. */
const answerMs = 30_000;
const indexMs = 5_000;
const pollMs = 100;

/** The last commit of a session. Throws `NatterError('not_found')`. */
export const lastCommit = async ({ events }: Pick<Ports, 'events'>, key: SessionKey): Promise<RecordedCommit> => {
  const last = await events.last(key);
  if (last === null) throw new NatterError('not_found', `there is no session ${key}`);
  return last;
};

/**
 * Erases a session: its host records the erasure, then everything before it is removed (C9). After a failure at any point, call it again: a
 * recorded erasure is continued. Throws `NatterError('not_found' | 'unavailable')`, and `invalid` with the field `ifSeq` if the session has
 * changed.
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

/** Records the erasure in the audit trail. It does not start without that record. */
const auditErasure = ({ audit, clock }: Ports, { key, actor }: ErasureRequest, outcome: 'ok' | 'failed'): Promise<void> =>
  audit.append({ v: 1, at: clock.now(), kind: 'session_erased', actor, target: key, outcome });

const eraseAfter = async (
  ports: Ports,
  eraser: Eraser,
  request: ErasureRequest,
  last: RecordedCommit,
): Promise<ErasureReport> => {
  const resumed = isErasure(last);
  const { seq, at } = resumed ? last : await recordErasure(ports, request);
  await request.recorded({ key: request.key, at });
  const erased = await eraser.erase(request.key, seq);
  return { key: request.key, seq, resumed, ...erased, indexed: await isIndexed(ports, request.key, seq) };
};

/** Makes the session record that it is erased. Resolves with sequence and time of that commit. */
const recordErasure = async (
  ports: Ports,
  { key, actor, reason, ifSeq }: ErasureRequest,
): Promise<Pick<RecordedCommit, 'seq' | 'at'>> => {
  const { answers, clock, commands, events } = ports;
  const id = uuidv7();
  const answer = answers.wait(id, answerMs);
  const at = clock.now();
  const ids = { id, key, at, correlationId: id, causationId: id };
  const envelope = { ...ids, actor, answerTo: answers.address, ...(ifSeq !== undefined && { ifSeq }) };
  await commands.publish({ ...envelope, data: { type: 'delete_session', mode: 'erased', reason } });
  const reply = await answer;
  if (reply?.outcome === 'accepted' && reply.seq !== undefined) return { seq: reply.seq, at };
  if (reply?.code === 'precondition_failed')
    throw new NatterError('invalid', `ifSeq: ${key} has changed in the meantime; nothing was erased`, { field: 'ifSeq' });
  if (reply?.outcome === 'refused')
    throw new NatterError('unavailable', `${key} cannot be erased: ${reply.message ?? reply.code}`);
  // The answer may be lost; then the log decides.
  const last = await events.last(key);
  if (last?.command.id === id) return last;
  throw new NatterError(
    'unavailable',
    `no session host answered within ${answerMs / 1_000} s; nothing was removed yet. Start one and erase again`,
  );
};

const isIndexed = async ({ index, clock }: Ports, key: SessionKey, seq: number): Promise<boolean> => {
  const until = clock.monotonic() + indexMs;
  for (;;) {
    if (((await index.get(key))?.seq ?? 0) >= seq) return true;
    if (clock.monotonic() >= until) return false;
    await clock.sleep(pollMs);
  }
};

/** An eraser whose erasures are on the disk before they are reported: no power cut brings anything back (C9). */
export const durableEraser = ({ erase }: Eraser, sync: () => Promise<void>): Eraser => ({
  erase: async (key, uptoSeq) => {
    const erased = await erase(key, uptoSeq);
    await sync();
    return erased;
  },
});

/** Opens the ports and the eraser for `work` and closes them afterwards. Throws `NatterError('unavailable')` if the broker cannot be reached. */
export const withEraser = async <T>(
  config: Config,
  address: BrokerAddress,
  work: (ports: Ports, eraser: Eraser) => Promise<T>,
): Promise<T> => {
  const { requestTimeoutMs, url } = config.nats;
  const subjects = subjectsUnder(config.prefix);
  return withBroker(config, address, 'natter erase', (connection) =>
    withPorts(config, address, async (ports) => {
      const { events, snapshots, clock } = ports;
      const eraser = await openEraser({ connection, subjects, events, snapshots, clock, requestTimeoutMs });
      return work(ports, url === undefined ? durableEraser(eraser, () => syncFolder(brokerFolder(config.dataDir))) : eraser);
    }),
  );
};
