import { Access } from '../../../services/gateway/context/access.ts';
import { SessionList } from '../../../services/gateway/context/session-list.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import type { Principal } from '../../../shared/domain/access/access.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { sessionRowOf } from '../../../shared/domain/projections/session-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { SessionIndex } from '../../../shared/ports/session-index.ts';
import { quantile } from '../load.ts';
import type { Row } from '../table.ts';

const sessions = 100_000;
const updatesPerSecond = 1_000;
const calls = 300;
const hourMs = 3_600_000;
const config = configSchema.parse({});

/** One in five a group, a few cron jobs, the rest direct messages. */
const keyAt = (number: number): SessionKey => {
  const bare =
    number % 5 === 0
      ? `telegram:group:-100${number}`
      : number % 5_000 === 1
        ? `cron:job-${number}`
        : `whatsapp:dm:49170${number}`;
  return `agent:main:${bare}` as SessionKey;
};

/** A row as the projection makes it from a session's first commit, and counted on by later ones. */
const rowAt = (number: number, at: number, seq: number): IndexRow => {
  const sender = { id: String(number % 1_000), principal: `whatsapp:${number % 1_000}` };
  return summarize(null, {
    v: 1,
    id: `c${seq}`,
    key: keyAt(number),
    rev: 1,
    sessionId: `whatsapp:${number}`,
    epoch: 0,
    at,
    correlationId: 'bench',
    causationId: 'bench',
    actor: 'bench',
    command: { id: `c${seq}`, seq: null, incarnation: null },
    events: [
      {
        type: 'session_opened',
        v: 1,
        sessionId: `whatsapp:${number}`,
        generation: 1,
        source: { kind: 'channel', interactive: true },
      },
      { type: 'user_message', v: 1, message: { messageId: `m${seq}`, text: `message ${seq}`, sender } },
    ],
    seq,
    recordedAt: at,
    digest: '',
  });
};

/** A list never asks the log: there is none. */
const noLog = new Proxy({} as EventLog, {
  get: () => {
    throw new Error('a list has read the log');
  },
});

const all = { sees: () => true };
/** As the gateway's own rules tell of somebody. */
const access = new Access({} as SessionList, () => config);
const reachOf = (principal: Principal) => ({ reach: access.reach(principal) });
const filters: Readonly<Record<string, (now: number) => Omit<Parameters<SessionList['list']>[0], 'limit'>>> = {
  'the newest 50': () => ({ reach: all }),
  'groups, active within the hour': (now) => ({ kinds: ['group'], since: now - hourMs, reach: all }),
  'cron jobs (one in 5,000)': () => ({ kinds: ['cron'], reach: all }),
  'by channel and beginning of the key, none': () => ({ channel: 'telegram', keyPrefix: 'agent:work', reach: all }),
  'running (none)': () => ({ status: 'running', reach: all }),
  'of one participant (one in 1,000)': () => reachOf({ role: 'participant', principal: 'whatsapp:7' }),
  'of one who takes part in nothing': () => reachOf({ role: 'participant', principal: 'whatsapp:none' }),
  'of a channel (one in five)': () => reachOf({ role: 'channel', namespace: 'telegram' }),
  'of a channel without sessions': () => reachOf({ role: 'channel', namespace: 'discord' }),
};

/** Changes random rows at a steady rate until told to stop. */
const keepChanging = (index: SessionIndex, from: number): { stop(): Promise<number> } => {
  let [seq, running] = [from, true];
  const began = performance.now();
  const work = async (): Promise<number> => {
    while (running) {
      const due = Math.floor(((performance.now() - began) * updatesPerSecond) / 1_000) - (seq - from);
      const rows = Array.from({ length: due }, () => rowAt(Math.floor(Math.random() * sessions), Date.now(), ++seq));
      if (rows.length > 0) await index.put(rows, seq);
      await systemClock.sleep(5);
    }
    return (seq - from) / ((performance.now() - began) / 1_000);
  };
  const rate = work();
  return {
    stop: () => {
      running = false;
      return rate;
    },
  };
};

const measure = async (list: SessionList, title: string): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const [what, filter] of Object.entries(filters)) {
    const tookMs: number[] = [];
    for (let call = 0; call < calls; call++) {
      const options = { ...filter(Date.now()), limit: 50 };
      const began = performance.now();
      for (const row of list.list(options).rows) sessionRowOf(row, config);
      tookMs.push(performance.now() - began);
      await systemClock.sleep(5);
    }
    tookMs.sort((a, b) => a - b);
    const p50 = quantile(tookMs, 0.5).toFixed(2);
    rows.push({
      what: `${what}, ${title}`,
      value: quantile(tookMs, 0.99),
      unit: 'ms p99',
      goal: 'under 20 ms',
      note: `p50 ${p50} ms`,
    });
  }
  return rows;
};

/** `sessions_list` over 100,000 sessions in the gateway's memory: quiet, and while 1,000 sessions change every second. */
export const sessionsList = async (): Promise<Row[]> => {
  const { index } = openInMemory({ clock: systemClock }).portsFor('bench');
  const now = Date.now();
  const rows = Array.from({ length: sessions }, (_, number) => rowAt(number, now - (sessions - number) * 1_000, number + 1));
  for (let from = 0; from < sessions; from += 2_000) await index.put(rows.slice(from, from + 2_000), from + 2_000);
  const list = new SessionList({ events: noLog, index, clock: systemClock }, config.session.mainKey);
  while (list.problems().length > 0) await systemClock.sleep(10);
  const began = performance.now();
  list.list({ limit: 50, reach: all });
  const first: Row = { what: 'the first list, which puts all rows in order', value: performance.now() - began, unit: 'ms' };
  const quiet = await measure(list, 'quiet');
  const changing = keepChanging(index, sessions);
  const busy = await measure(list, 'busy');
  const rate = { what: 'rows changed meanwhile', value: await changing.stop(), unit: 'a second', goal: '1,000' };
  await list.close();
  return [first, ...quiet, ...busy, rate];
};
