import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { surveyDamage } from '../../../shared/runtime/damage-survey.ts';
import { commandIdOf } from '../commands/envelope.ts';
import { sendCommand } from '../commands/send-command.ts';
import { ownersOnly } from '../context/access.ts';
import { noSuchSession } from '../context/history.ts';
import { type Call, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import type { Control } from './control.ts';
import { reading, withoutKey, writing } from './parameters.ts';

/** What the log of a session lacks, and the decision of a person to go on without it (F13). Both are the owner's. */

const body = z.strictObject({ reason: z.string().min(1).max(500) });

const readDamage = async ({ context: { ports, replays }, caller }: Call, { key }: { readonly key: SessionKey }) => {
  ownersOnly(caller.principal, 'what the log of a session lacks');
  return replays.during(caller.actor, async () => {
    const { gaps, last, known } = await surveyDamage(ports, key);
    if (gaps.length === 0 && last.rev === 0) throw noSuchSession();
    const { position, machine } = known;
    const goesOn = {
      rev: position.rev,
      at: position.at,
      sessionId: machine.context.sessionId,
      messages: machine.context.messages,
    };
    return { key, gaps, lastRev: last.rev, lastSeq: last.seq, known: goesOn };
  });
};

const repairSession = async (
  { context, caller }: Call,
  { key, reason, idempotencyKey }: Omit<Control, 'condition'> & { readonly reason: string },
) => {
  ownersOnly(caller.principal, 'repairing a session');
  const runId = commandIdOf(caller, key, 'repair_history', idempotencyKey);
  return context.audit.before('history_repaired', caller, { target: key }, async () => ({
    key,
    ...(await sendCommand(context, caller, key, { type: 'repair_history', reason }, { runId })),
  }));
};

export const repairOperations: readonly Operation[] = [
  operation(readDamage, {
    ...{ id: 'readDamage', tag: 'sessions', changes: 'nothing' },
    summary: 'Reads the whole log of a session and returns what it lacks',
    http: sessionRoute({
      ...{ method: 'get', path: '/damage' },
      answers: { 200: results.damage },
      examples: { answer: samples.damageSample },
      problems: [...reading, 'forbidden'],
      input: ({ key }) => ({ key }),
    }),
  }),
  operation(repairSession, {
    ...{ id: 'repairSession', tag: 'sessions', changes: 'sessions' },
    summary: 'Records the decision to go on with a damaged session, in a new generation',
    http: sessionRoute({
      ...{ method: 'post', path: '/repair', headers: ['Idempotency-Key'], body },
      answers: { 200: results.takenResult, 202: results.takenResult },
      examples: { body: { reason: 'a bad disk' }, answer: samples.takenSample },
      problems: [...writing, 'not_damaged'],
      input: ({ key, body: { reason }, idempotencyKey }) => ({ key, reason, idempotencyKey }),
      output: withoutKey,
    }),
  }),
];
