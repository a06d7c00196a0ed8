import { createHash } from 'node:crypto';
import type { Config } from '../../../shared/domain/config/schema.ts';
import {
  type DueSession,
  dueSessions,
  logBytesOf,
  removedSessions,
  retentionSettings,
} from '../../../shared/domain/reset/retention.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { startLeasedWork, type Tenure } from '../../../shared/runtime/leased-work.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { archiveTranscripts } from '../../../shared/runtime/transcripts/archive.ts';
import { AttachmentSweep, type SweepPorts } from './attachment-sweep.ts';

export type RetentionPorts = Pick<Ports, 'clock' | 'events' | 'index' | 'leases' | 'commands' | 'answers' | 'audit'> & SweepPorts;
export interface RetentionOptions {
  readonly ports: RetentionPorts;
  readonly log: Logger;
  readonly member: string;
  readonly session: Pick<Config['session'], 'mainKey' | 'maintenance'>;
}

const name = 'checkpoint-retention';
const actor = 'retention';
/** Milliseconds between two removals, so that conversations do not notice them. */
const pauseMs = 200;
const answerMs = 5_000;

/**
 * Removes the sessions that are due from time to time (B1, B2, D10): archives each if configured, writes the audit record, then
 * deletes its key, but only if nothing has happened in it since. Also removes attachments that no message refers to. One process does it at a
 * time.
 */
export const startRetention = ({ ports, log, member, session }: RetentionOptions): Omit<Service, 'name' | 'problems'> => {
  const { clock, index, leases } = ports;
  const { everyMinutes } = session.maintenance;
  const counts = { retention_runs_total: 0, retention_due_sessions: 0, retention_deleted_total: 0, retention_failed_total: 0 };
  let bytes = { live: 0, deleted: 0 };

  const sweep = new AttachmentSweep(ports, log);

  const remove = async (due: DueSession): Promise<void> => {
    try {
      if (session.maintenance.archiveDir !== undefined)
        await archiveTranscripts(ports.events, session.maintenance.archiveDir, due.row);
      const isDeleted = await deleteIfUnchanged(ports, due);
      counts.retention_deleted_total += isDeleted ? 1 : 0;
    } catch (error) {
      counts.retention_failed_total += 1;
      log.error({ err: error, key: due.row.key, rule: due.rule }, 'a session that is due is not removed');
    }
  };

  const run = async ({ stopping, healthy }: Tenure): Promise<void> => {
    const view = await index.watch();
    const rows = [...view.rows()];
    await view.close();
    const due = dueSessions(rows, session, clock.now());
    bytes = logBytesOf(rows);
    healthy();
    counts.retention_due_sessions = due.length;
    for (const one of removedSessions(due, session.maintenance)) {
      if (stopping.aborted) return;
      await remove(one);
      await clock.sleep(pauseMs, stopping);
    }
    counts.retention_runs_total += 1;
    await sweep.run(stopping);
    await clock.sleep(everyMinutes * 60_000, stopping);
  };

  const leased = startLeasedWork({ name, member, leases, clock, log, work: run });
  return {
    metrics: () => ({
      ...counts,
      attachments_swept_total: sweep.removed,
      retention_live_bytes: bytes.live,
      retention_deleted_bytes: bytes.deleted,
      retention_active: leased.active() ? 1 : 0,
    }),
    stop: leased.stop,
  };
};

/** Resolves with false if the session is in use again, or is deleted already. */
const deleteIfUnchanged = async ({ audit, answers, commands, clock }: RetentionPorts, due: DueSession): Promise<boolean> => {
  const command = commandFor(due, clock.now(), answers.address);
  const record = { v: 1, at: command.at, kind: 'session_deleted', actor, target: due.row.key } as const;
  await audit.append({ ...record, outcome: 'ok', detail: retentionSettings[due.rule] });
  const waiting = answers.wait(command.id, answerMs);
  await commands.publish(command);
  const answer = await waiting;
  if (answer?.outcome === 'accepted' || answer?.outcome === 'duplicate') return true;
  await audit.append({ ...record, outcome: 'failed', detail: answer?.code ?? 'unanswered' });
  return false;
};

const commandFor = ({ row: { key, seq }, rule }: DueSession, at: number, answerTo: string): CommandEnvelope => {
  const id = `retention-${createHash('sha256').update(`${key} ${seq}`).digest('hex').slice(0, 32)}`;
  const data = { type: 'delete_session', mode: 'key', reason: `unused: ${retentionSettings[rule]}` } as const;
  return { id, key, at, correlationId: id, causationId: id, actor, answerTo, ifSeq: seq, data };
};
