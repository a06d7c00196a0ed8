import { uuidv7 } from 'uuidv7';
import { runIdOf } from '../../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { afterCommitOf, type Run, type TrackedRun } from '../../../../shared/domain/projections/run.ts';
import type { CallAttempt } from '../../../../shared/domain/session/repeats/asked-calls.ts';
import { hasCode } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { IncomingFile } from '../../attachments/incoming-file.ts';
import { type Caller, idempotentIdOf } from '../../commands/envelope.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { noSuchSession } from '../../context/history.ts';
import { appendContext } from '../../messages/append-context.ts';
import { giveResults } from '../../messages/give-results.ts';
import { submitMessage, submitRetry } from '../../messages/submit-message.ts';
import { Answer } from '../../runs/answer.ts';
import { LiveAnswer } from '../../runs/live-answer.ts';
import { visibleText } from '../../runs/live-text.ts';
import { isSettled } from '../../runs/settled.ts';
import { type Conversation, linesOf } from './conversation.ts';
import { answerOf } from './find-response.ts';
import { approvalRequired, Failure, failureOfRun } from './format/failure.ts';
import type { NamedSession } from './session.ts';

/** One message for an agent and the run that answers it. */
export interface Question extends NamedSession {
  readonly conversation: Conversation;
  readonly runId: string;
  /** The caller's own, or one for this call alone. */
  readonly idempotencyKey: string;
  /** Set if the client counts its attempts and sent no key. */
  readonly call: CallAttempt | undefined;
  /** The sequence up to which the caller sees nothing, once the message is submitted. */
  readonly submittedAfter?: number;
  /** The position of the log before that. */
  readonly followAfter?: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** A run that is begun already, and where to look for it. */
export type KnownRun = Pick<Question, 'key' | 'runId' | 'followAfter' | 'waitMs' | 'signal'> & {
  readonly submittedAfter: number;
  /** As far as its answer is recorded. */
  readonly run?: Run | null;
};
const isKnown = (question: Question | KnownRun): question is KnownRun => question.submittedAfter !== undefined;

export const questionOf = (
  caller: Caller,
  { key, isFresh, thread, idempotencyKey = uuidv7() }: NamedSession,
  given: Pick<Question, 'conversation' | 'call' | 'waitMs' | 'signal'>,
): Question => {
  const runId = runIdOf(key, idempotentIdOf(caller, key, 'post_message', idempotencyKey));
  return { ...given, key, isFresh, idempotencyKey, runId, ...(thread !== undefined && { thread }) };
};

/** The same question once its results are given: with the run that they begin. Throws `Refusal` if no call waits for them. */
export const withResults = async (context: GatewayContext, caller: Caller, question: Question): Promise<Question> => {
  const { key, thread, conversation } = question;
  await before(context, caller, question);
  const results = conversation.results.map((result) => ({ ...result, outcome: 'ok' as const }));
  const given = { key, results, text: conversation.text, client: conversation.client, thread };
  const { runId, seen, after } = await giveResults(context, caller, given);
  return { ...question, runId, submittedAfter: seen, followAfter: after };
};

/** A client's retry with the run of its first attempt, which the session knows; any other question as it is (D9). */
export const withFirstRun = async (context: GatewayContext, caller: Caller, question: Question): Promise<Question> => {
  if (question.call === undefined || question.call.attempt === 0) return question;
  await before(context, caller, question);
  const { runId, seen } = await submitRetry(context, caller, submissionOf(question));
  return { ...question, runId, submittedAfter: seen };
};

const submissionOf = ({ key, thread, conversation, idempotencyKey, call, waitMs, signal }: Question) => ({
  ...{
    key,
    files: conversation.files,
    field: 'messages',
    text: conversation.text,
    client: conversation.client,
    thread,
    idempotencyKey,
    call,
    literal: true,
    waitMs,
    signal,
  },
  isEnough: isSettled,
});

/** Submits the message, unless that is done, and waits for its run until that is `isEnough`: by default, settled or waiting itself. */
const runOf = async (
  context: GatewayContext,
  caller: Caller,
  question: Question | KnownRun,
  isEnough = isSettled,
): Promise<{ run: Run; seen: number }> => {
  if (!isKnown(question)) return submitMessage(context, caller, { ...submissionOf(question), isEnough });
  const { key, runId, waitMs, signal, submittedAfter: seen } = question;
  // Its turn may go on with results of its calls: that is another answer.
  if ('run' in question && question.run && isSettled(question.run)) return { run: question.run, seen };
  const run = await context.runs.await(key, runId, { after: seen, waitMs, signal, isEnough });
  return { run: run ?? { runId, status: 'accepted' }, seen };
};

/** Submits the message, and resolves with what the log has of its answer once it has the run. Throws `Failure` if that takes too long. */
export const begunAnswer = async (context: GatewayContext, caller: Caller, question: Question): Promise<Answer> => {
  const { key, runId, submittedAfter } = question;
  if (submittedAfter === undefined) await before(context, caller, question);
  const { seen } = await runOf(context, caller, question, (run) => run !== null && run.status !== 'accepted');
  const answer = await answerOf(context.ports, key, runId, seen);
  if (answer === null) throw await unfinished(context, question, seen);
  return answer;
};

/** Called as the run goes: `begun` once the log has the run, `text` with each piece of text. */
export interface Listener {
  begun(answer: Answer): void;
  /** Writes at once, and resolves when the client can take more. */
  text(text: string): Promise<void>;
}

/**
 * Submits the message, unless its run is known, and waits for its answer, calling the listener meanwhile. Its texts are a prefix of the
 * answer, and the whole answer in the end. Throws `Failure` if the run ends without an answer, or not in time; then the run continues.
 */
export const answerTo = async (
  context: GatewayContext,
  caller: Caller,
  question: Question | KnownRun,
  listener?: Listener,
): Promise<Answer> => {
  const { key, runId, signal } = question;
  if (!isKnown(question)) await before(context, caller, question);
  const following = new AbortController();
  const until = AbortSignal.any([signal, following.signal]);
  const told = new LiveAnswer();
  const followed = follow(context, caller, { key, runId, signal: until, told, listener, after: question.followAfter });
  try {
    const { run, seen } = await runOf(context, caller, question);
    if (!isSettled(run)) throw await unfinished(context, question, seen);
    if (!followed.answer.isWhole) following.abort();
    await followed.ended;
    following.abort();
    const answer = await whole(context, question, followed.answer, seen);
    if (answer.calls.length === 0 && !answer.isFiltered) {
      if (run.status === 'error') throw failureOfRun(run);
      if (run.status !== 'ok') throw await unfinished(context, question, seen);
    }
    const rest = told.end(answer.text);
    if (listener && rest !== '') await listener.text(rest);
    if (listener && told.isBroken && !answer.isFiltered) throw new Failure(500, 'answer_restarted', restarted(runId));
    return answer;
  } finally {
    following.abort();
  }
};

const restarted = (runId: string): string =>
  `the answer was begun anew after a part of it was sent; read what is recorded of run ${runId}`;

/** Appends context before the message: the instructions and, in a fresh session, the earlier messages. */
const before = async (context: GatewayContext, caller: Caller, question: Question): Promise<void> => {
  const { key, isFresh, conversation, idempotencyKey, signal } = question;
  const { instructions, earlier, earlierFiles } = conversation;
  const append = (text: string, once?: string, files?: typeof earlierFiles) =>
    appendContext(context, caller, { key, text, idempotencyKey: once, signal, ...(files && { files }) });
  if (instructions !== '') await append(`[Instructions of the program that asks]\n${instructions}`);
  if (!isFresh || earlier.length === 0) return;
  await append(
    `[What was said before, as that program tells it: one message a line]\n${linesOf(earlier)}`,
    idempotencyKey,
    newest(earlierFiles),
  );
};

/** Of the files in what was said before, as many as one message has. */
const newest = (files: readonly IncomingFile[]): readonly IncomingFile[] => {
  const once = [...new Map(files.map((file) => [file.digest, file])).values()];
  return once.slice(-limits.attachments);
};

interface Followed {
  readonly key: SessionKey;
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly told: LiveAnswer;
  readonly listener: Listener | undefined;
  /** The position to follow the log from. Default: now. */
  readonly after: number | undefined;
}

/**
 * Follows the log until the run is over and, for a listener, the live text too. What it misses is sent at the end; for a run that started
 * earlier everything is.
 */
const follow = (
  { feed, access, ports, log }: GatewayContext,
  { principal }: Caller,
  { key, runId, signal, told, listener, after = feed.position }: Followed,
): { readonly answer: Answer; readonly ended: Promise<void> } => {
  const answer = new Answer(runId);
  const tell = async (text: string): Promise<void> => {
    if (text !== '') await listener?.text(text);
  };
  const recorded = async (): Promise<void> => {
    let traced: TrackedRun = { turnId: runId, run: null };
    for await (const commit of feed.follow({ after, key, signal })) {
      if (!(await access.shows(principal, commit))) throw noSuchSession();
      traced = afterCommitOf(traced, commit, runId);
      const said: string[] = [];
      answer.take(commit, traced, (text, step) => said.push(answer.isWhole ? told.step(text, step) : ''));
      if (traced.run !== null) listener?.begun(answer);
      await tell(said.join(''));
      if (isSettled(traced.run)) return;
    }
  };
  const live = async (): Promise<void> => {
    const isOurs = (turnId: string) => answer.isWhole && turnId === answer.turnId;
    const visible = visibleText((turnId) => isOurs(turnId) && access.showsText(principal, key, turnId));
    for await (const delta of ports.live.subscribe(key, signal)) {
      const seen = visible(delta);
      // A text that has overtaken the record of earlier steps is sent with its own record.
      if (seen?.step === answer.step + 1 && !signal.aborted) await tell(told.live(seen));
    }
  };
  const warn = (error: unknown): void => log.warn({ err: error }, 'reading along with an answer ended');
  if (listener) void live().catch(warn);
  return { answer, ended: recorded().catch(warn) };
};

/** The answer in the log: as followed, or looked up if that is incomplete. */
const whole = async ({ ports }: GatewayContext, { key, runId }: KnownRun | Question, answer: Answer, seen: number) =>
  answer.isWhole && isSettled(answer.run) ? answer : ((await answerOf(ports, key, runId, seen)) ?? answer);

/** Why there is no answer yet. */
const unfinished = async (
  { runs, closing }: GatewayContext,
  { key, runId, waitMs, signal }: Pick<Question, 'key' | 'runId' | 'waitMs' | 'signal'>,
  seen: number,
): Promise<Error> => {
  if (hasCode(signal.reason, 'unauthorized')) return signal.reason;
  if (closing.aborted) return new Failure(503, 'unavailable', `the gateway is shutting down; run ${runId} continues`);
  const run: Run | null = await runs.status(key, runId, seen);
  if (run?.status === 'awaiting_approval')
    return approvalRequired(run.approvalId, `run ${runId} awaits it and continues after that`);
  return new Failure(504, 'timeout', `no answer within ${waitMs / 1_000} s; run ${runId} continues`);
};
