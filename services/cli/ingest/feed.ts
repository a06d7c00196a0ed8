import { setTimeout as delay } from 'node:timers/promises';
import { NatterApiError, type NatterClient } from '../../../shared/client/main.ts';
import type { InboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { commitsOf } from '../commits.ts';
import { SessionOutcome } from './outcome.ts';

/** Conversations that are fed at the same time; within one, messages go one after another, in order. */
const conversationsAtOnce = 16;
/** How long one message is retried while the gateway is unavailable or overloaded. */
const patienceMs = 120_000;
/** The wait ends after this long without progress. */
const stalledMs = 60_000;
const pollMs = 100;

/** Envelopes of one session, in order. */
export interface Conversation {
  readonly key: string;
  readonly envelopes: readonly InboundEnvelope[];
}

export interface Fed {
  readonly sent: number;
  /** Already in the log: the file was ingested before. */
  readonly already: number;
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
  readonly outcomes: ReadonlyMap<string, SessionOutcome>;
  /** Messages and turns without progress for too long. */
  readonly missing: number;
}

/** Reads the log up to now into an outcome. */
const update = async (client: NatterClient, key: string, outcome: SessionOutcome): Promise<void> => {
  try {
    for await (const commit of commitsOf(client, key, { after: outcome.state.position.seq })) outcome.accept(commit);
  } catch (error) {
    // A session does not exist before its first message.
    if (!(error instanceof NatterApiError && error.status === 404)) throw error;
  }
};

const inParallel = async <T>(items: readonly T[], workers: number, work: (item: T) => Promise<void>): Promise<void> => {
  const rest = items.values();
  await Promise.all(
    [...Array(Math.min(workers, items.length))].map(async () => {
      for (const item of rest) await work(item);
    }),
  );
};

/**
 * Sends the envelopes and waits until the log and the index show the outcome of each. Messages already in the log are not sent again: the
 * broker recognises an id for two minutes and a session its last 64, and a file may be older than both.
 */
export const feed = async (
  client: NatterClient,
  conversations: readonly Conversation[],
  progress: (text: string) => void,
): Promise<Fed> => {
  const outcomes = new Map(conversations.map(({ key }) => [key, new SessionOutcome()]));
  const refused: { id: string; reason: string }[] = [];
  const total = conversations.reduce((sum, { envelopes }) => sum + envelopes.length, 0);
  let sent = 0;
  let already = 0;

  const send = async (envelope: InboundEnvelope): Promise<boolean> => {
    try {
      await client.post('/v1/inbound', envelope, { patienceMs, repeatable: true });
      return true;
    } catch (error) {
      if (!(error instanceof NatterApiError) || error.code === 'unexpected') throw error;
      if (error.status === 0 || error.status === 401 || error.status >= 500) throw error;
      refused.push({ id: envelope.id, reason: error.message });
      return false;
    }
  };

  await inParallel(conversations, conversationsAtOnce, async ({ key, envelopes }) => {
    const outcome = outcomes.get(key) ?? new SessionOutcome();
    await update(client, key, outcome);
    for (const envelope of envelopes) {
      if (outcome.known.has(envelope.id)) already += 1;
      else if (await send(envelope)) {
        outcome.expect(envelope.id);
        sent += 1;
      }
      progress(`sending: ${sent + already + refused.length} of ${total}`);
    }
  });

  const missing = await settle(client, outcomes, progress);
  return { sent, already, refused, outcomes, missing };
};

/** Waits until the log has the end of every message and turn, and the index has caught up. Resolves with the number still open. */
const settle = async (
  client: NatterClient,
  outcomes: ReadonlyMap<string, SessionOutcome>,
  progress: (text: string) => void,
): Promise<number> => {
  let movedAt = performance.now();
  let before = '';
  for (;;) {
    let open = 0;
    for (const [key, outcome] of outcomes) {
      await update(client, key, outcome);
      open += outcome.pending;
    }
    const behind = open > 0 ? 0 : await behindIndex(client, outcomes);
    if (open === 0 && behind === 0) return 0;
    progress(`waiting: ${open} messages and turns, ${counted(behind, 'session')} to index`);
    const now = `${open} ${behind}`;
    if (now !== before) movedAt = performance.now();
    if (performance.now() - movedAt > stalledMs) return open + behind;
    before = now;
    await delay(pollMs);
  }
};

/** Sessions whose index row is behind their log. */
const behindIndex = async (client: NatterClient, outcomes: ReadonlyMap<string, SessionOutcome>): Promise<number> => {
  const waiting = new Set([...outcomes].filter(([, { state }]) => state.position.seq > 0).map(([key]) => key));
  for await (const { key, seq } of client.sessions.list({ status: 'all', patienceMs: 5_000 })) {
    if (seq >= (outcomes.get(key)?.state.position.seq ?? 0)) waiting.delete(key);
    if (waiting.size === 0) break;
  }
  return waiting.size;
};
