import { limits } from '../../kit/limits.ts';
import type { EventOf, SessionEvent } from '../session/events.ts';
import { isNatters } from '../values/person-words.ts';
import type { Settings } from '../values/settings.ts';
import type { ApprovalRequest, Message, Sender } from '../values/types.ts';
import { type IndexRow, type PendingApproval, questionsIn } from './index-row.ts';
import { revisedBefore } from './waiting-messages.ts';

/** Computes parts of an index row. */

const principalOf = ({ principal, id }: Sender): string => principal ?? id;

/** What stands for a message in lists: its text, or the names of its files where it has none. */
export const wordsOf = ({ text, attachments = [] }: Message): string =>
  text.trim() === '' ? attachments.map(({ name = 'file' }) => name).join(', ') : text;

export const previewOf = (text: string, most: number = limits.previewCharacters): string => {
  const line = text.replace(/\s+/gu, ' ').trim();
  if (line.length <= most) return line;
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
};

/** The first line of a text that says something: not the fence of a block of code. */
const firstLine = (text: string): string => /^(?!\s*(?:```|~~~)).*[\p{L}\p{N}].*$/mu.exec(text)?.[0] ?? text;

/** A row with the first words of a message, where no message before it has any, or a reset has ended those. Natter's own messages do not count. */
export const withFirstWords = (
  { firstWords, firstWordsEndedSeq }: IndexRow,
  message: Message,
  firstWordsId: string,
): Partial<IndexRow> =>
  (firstWords === '' || firstWordsEndedSeq !== undefined) && !isNatters(message.sender)
    ? {
        firstWords: previewOf(firstLine(wordsOf(message)), limits.firstWordsCharacters),
        firstWordsId,
        firstWordsEndedSeq: undefined,
      }
    : {};

/**
 * After a reset, or a fork of a commit before the last message, the agent no longer knows that, so the row no longer quotes it. With a queue
 * that is kept, a message is about to be answered, which may be the last.
 */
export const lastMessageAfterReset = (
  { lastMessageId = '0' }: IndexRow,
  { forkedFrom, keepsQueue }: EventOf<'session_reset'>,
): Partial<IndexRow> =>
  keepsQueue || (forkedFrom && forkedFrom.seq >= Number.parseInt(lastMessageId, 10))
    ? {}
    : { lastMessagePreview: '', lastMessageId: undefined };

/**
 * A fork from before the first words begins without any. A reset keeps them as a name: one that somebody asked for until something new is said.
 * A fork from before that reset takes it back.
 */
export const firstWordsAfterReset = (
  { firstWordsId, firstWordsEndedSeq = Number.POSITIVE_INFINITY }: IndexRow,
  { cause, forkedFrom }: EventOf<'session_reset'>,
  seq: number,
): Partial<IndexRow> => {
  if (forkedFrom && firstWordsId !== undefined && forkedFrom.seq < Number.parseInt(firstWordsId, 10))
    return { firstWords: '', firstWordsId: undefined, firstWordsEndedSeq: undefined };
  if (forkedFrom && forkedFrom.seq < firstWordsEndedSeq) return { firstWordsEndedSeq: undefined };
  const isAskedFor = cause?.trigger === 'command' || cause?.trigger === 'api';
  return isAskedFor ? { firstWordsEndedSeq: seq } : {};
};

/** Programs are not participants: otherwise anyone with the program's name would get access (A8/89). */
export const withParticipant = (participants: readonly string[], sender: Sender): readonly string[] => {
  const id = principalOf(sender);
  return sender.role === 'program' || participants.includes(id)
    ? participants
    : [...participants, id].slice(-limits.participants);
};

/** A person's description takes precedence. When it is removed, there is none until the next introspection. */
export const described = (settings: Settings, description: string | null | undefined): Partial<IndexRow> => {
  if (description === undefined) return { settings };
  return { settings, description: description ?? '', descriptionSource: description === null ? null : 'person' };
};

export const introspectionParts = (
  row: IndexRow,
  { workingMemory = row.workingMemory, description }: EventOf<'introspected'>,
  introspectedAt: number,
): Partial<IndexRow> => ({
  workingMemory,
  introspectedAt,
  ...(description !== undefined && row.descriptionSource !== 'person' && { description, descriptionSource: 'introspection' }),
});

/** A message whose text counts no longer, by the id of its event, and the commit that says what does. */
export interface Revision {
  readonly of: string;
  readonly seq: number;
}

/** A row after an edit or a withdrawal of message `of`; `preview` is what that leaves of its text. */
export const revised = (row: IndexRow, { of }: { readonly of: string }, preview: string, seq: number): Partial<IndexRow> => ({
  revisions: [...(row.revisions ?? []).filter((revision) => revision.of !== of), { of, seq }].slice(-limits.revisableMessages),
  ...(of === row.lastMessageId && { lastMessagePreview: preview }),
  ...revisedBefore(row, of, preview),
  ...(of === row.firstWordsId && { firstWords: previewOf(preview, limits.firstWordsCharacters) }),
});

/** What is pending: what the turn waits for, and what no turn waits for. */
export const asking = (
  approval: PendingApproval | null,
  questions: readonly PendingApproval[],
): Pick<IndexRow, 'approval' | 'questions'> => ({ approval, questions: questions.length === 0 ? undefined : questions });

export const withQuestion = (row: IndexRow, request: PendingApproval): Partial<IndexRow> =>
  request.deferred
    ? asking(row.approval?.deferred ? null : row.approval, [...questionsIn(row), request])
    : { ...asking(request, questionsIn(row)), status: 'awaiting_approval' };

export const withoutQuestion = (row: IndexRow, approvalId: string): Partial<IndexRow> => {
  const questions = questionsIn(row).filter((open) => open.approvalId !== approvalId);
  const { approval } = row;
  if (approval === null || approval.deferred) return asking(null, questions);
  return approval.approvalId === approvalId ? { ...asking(null, questions), status: 'running' } : asking(approval, questions);
};

/** Lists show the action; the arguments may be long. */
export const withoutArguments = (request: ApprovalRequest): ApprovalRequest =>
  request.deferred ? { ...request, deferred: { ...request.deferred, arguments: '' } } : request;

/** True if the turn was queued. A turn that starts in the commit of its message was not. */
export const hasWaited = ({ turn }: EventOf<'turn_started'>, events: readonly SessionEvent[]): boolean =>
  !events.some((event) => event.type === 'user_message' && event.turnId === turn.id);

/** The strangers' messages that still wait once these no longer do. */
export const withoutQueued = ({ strangersQueued }: IndexRow, turnIds: readonly string[]): Partial<IndexRow> =>
  strangersQueued === undefined ? {} : { strangersQueued: strangersQueued.filter((id) => !turnIds.includes(id)) };
