import { type NamedModel, resolveModel } from '../config/model-name.ts';
import type { Config } from '../config/schema.ts';
import type { SessionKey } from '../keys/session-key.ts';
import type { CommandOf, SessionCommand } from '../session/commands.ts';
import type { Settings } from '../values/settings.ts';
import type { DeliveryTarget, Sender } from '../values/types.ts';
import { actsForOwner } from './acts-for-owner.ts';
import type { ChatCommand } from './chat-command.ts';
import { chatCommandLines } from './chat-help.ts';
import { nobodyIn, noticeCommand, noticeOf, ownersAlone } from './chat-notice.ts';
import { factsOf } from './report-facts.ts';
import { settingCommand } from './setting-command.ts';

/**
 * Turns chat commands into session commands (A4/53–55, A5/62, A7/81, A9/94, A11/123–126, B25). Answers are notices in the log; no
 * model writes them.
 */

/**
 * The context of a chat command. `sender.role` comes from the configuration; `at` in ms; `channel` if the key does not contain
 * it.
 */
export interface ChatCommandContext {
  readonly key: SessionKey;
  readonly occasion: Pick<CommandOf<'open_session'>, 'sessionId' | 'source' | 'origin' | 'expiry'>;
  readonly sender: Sender;
  /** Whether the sender may change this session: the owner everywhere, others where it is theirs alone (D7). */
  readonly mayChange: boolean;
  /** What came of `/pair`, which is done outside. Absent: nothing was done, because the sender may not. */
  readonly paired?: string | undefined;
  readonly deliverTo?: DeliveryTarget | undefined;
  readonly messageId: string;
  readonly config: Config;
  readonly at: number;
  readonly channel?: string;
}

/**
 * Whose texts are taken for chat commands; those of others are ordinary text. In a direct chat: of everyone who may write there.
 * In a group: of the owner, and of those who address the agent, since a bare `/new` may be meant for another bot. What a command
 * may do is another question (`ChatCommandContext.mayChange`).
 */
export const mayCommand = (given: {
  readonly direct: boolean;
  readonly addressed: boolean;
  readonly role: Sender['role'];
}): boolean => given.direct || given.addressed || given.role === 'owner';

/**
 * The session command for a chat command. What would change a session is a notice instead, if the sender may not change it, except
 * that everybody may stop what they themselves started (D7).
 */
export const commandForChat = (chat: ChatCommand, context: ChatCommandContext): SessionCommand => {
  const { mayChange, sender } = context;
  switch (chat.type) {
    case 'reset':
      return mayChange ? reset(chat, context) : ownersAlone(chat.word, context);
    case 'stop':
      return { type: 'stop', reason: '/stop', ...(!mayChange && { by: sender }), notice: noticeOf('stopped', context) };
    case 'status':
      return { type: 'report', facts: factsOf('status', context), notice: noticeOf('status', context) };
    case 'context':
      return {
        ...{ type: 'report', facts: factsOf(`context_${chat.kind}`, context) },
        ...{ notice: noticeOf('context', context), by: context.sender },
      };
    case 'send':
      return send(chat.value, context);
    case 'compact':
      return mayChange ? compact(chat.instructions, context) : ownersAlone('/compact', context);
    case 'checkpoint':
      return context.config.introspection.enabled
        ? { type: 'request_checkpoint', why: { reason: 'manual' }, notice: noticeOf('checkpoint', context) }
        : noticeCommand('introspection_disabled', checkpointsDisabled, context);
    case 'approve':
      return approvalAnswer(context, { approvalId: chat.approvalId, verdict: 'granted', scope: chat.scope });
    case 'deny':
      return deny(chat, context);
    case 'pair':
      return context.paired === undefined
        ? noticeCommand('owner_only', 'Nothing was approved: only the owner may use /pair, in a direct chat.', context)
        : noticeCommand('pairing', context.paired, context);
    case 'help':
      return noticeCommand('help', chatCommandLines.map(([usage, what]) => `${usage}: ${what}`).join('\n'), context);
    case 'usage':
      return { type: 'report', facts: factsOf('usage', context), notice: noticeOf('usage', context) };
    case 'export':
      return mayChange ? noticeCommand('export', exportText(context), context) : ownersAlone('/export', context);
    case 'set':
      return settingCommand(chat, context);
    case 'misspelt':
      return noticeCommand('approval_misspelt', spellings[chat.word], context);
  }
};

/** The reply to `/checkpoint` where introspection is off (A7/81). */
export const checkpointsDisabled =
  'Checkpoints are off: introspection.enabled is false. The operator can set it to true and restart.';

/** How to get the whole conversation as a file: a chat message would be too short for it (B20). */
const exportText = ({ key }: ChatCommandContext): string =>
  [
    'On the page: Transcript, then Download Markdown.',
    `On a terminal: natter export ${key} --markdown --out chat.md, or /export chat.md in the chat there.`,
    `Programs read GET /v1/sessions/${encodeURIComponent(key)}/messages.`,
  ].join('\n');

/** The first message after a reset that was requested without further text (A4/55): no person wrote it. */
export const greeting = 'This session has just begun anew. Greet the user in one short line and ask how you can help.';

/** Starts a new session. The rest of the text is its first message; the first word may name a model (A4/53–54). */
const reset = ({ word, rest }: ChatCommand & { type: 'reset' }, context: ChatCommandContext): SessionCommand => {
  const { occasion, messageId, sender, channel, deliverTo, config } = context;
  const [first = ''] = rest.split(/\s/u, 1);
  const named = resolveModel(first, config, { alone: first === rest });
  if (named !== null && !('model' in named)) {
    const code = 'unknown' in named ? 'model_unknown' : 'model_ambiguous';
    return noticeCommand(code, `Nothing was reset: ${questionFor(word, first, named)}`, context);
  }

  const text = named === null ? rest : rest.slice(first.length).trim();
  return {
    type: 'reset',
    ...occasion,
    cause: { trigger: 'command', rule: word },
    ...(named !== null && { settings: { model: named.model } }),
    ...(named?.guessed && { notice: { ...noticeOf('model_taken', context), text: `Model: ${named.model}` } }),
    // Natter asks for the greeting, but the session belongs to the person who requested it.
    ...(text === '' && isPerson(sender) && { by: sender }),
    message: {
      messageId,
      ...(text === '' ? { text: greeting, sender: greeter(sender) } : { text, sender }),
      ...(deliverTo && { deliverTo }),
      ...(channel !== deliverTo?.channel && { channel }),
    },
  };
};

/** The turn of the greeting has no more rights than who asked for it (A5/62). */
const greeter = (sender: Sender): Sender => ({
  ...{ id: 'natter', role: 'program' },
  ...(!actsForOwner(sender) && { onBehalfOf: 'participant' }),
});

/** The gateway's own callers have no principal. */
const isPerson = ({ role, principal }: Sender): boolean => role !== 'program' && principal !== undefined;

/** Asks which model is meant; what was meant as a message can be sent after the word alone. */
const questionFor = (word: string, name: string, named: Exclude<NamedModel, { readonly model: string }>): string => {
  const orText = `If it is your message, write ${word} alone first.`;
  if ('unknown' in named)
    return `there is no model "${name}". Write ${word} <provider>/<model> with a provider of yours. ${orText}`;
  return named.ambiguous.length === 0
    ? `the configuration names no model of ${name}. Write ${word} ${name}/<model>. ${orText}`
    : `"${name}" names no single model; near it: ${named.ambiguous.join(', ')}. Write ${word} with one of these names. ${orText}`;
};

const policies: Readonly<Record<'on' | 'off' | 'inherit', { policy: NonNullable<Settings['sendPolicy']> | null; text: string }>> =
  {
    on: { policy: 'allow', text: 'Sending is on for this session.' },
    off: { policy: 'deny', text: 'Sending is off for this session.' },
    inherit: { policy: null, text: 'Sending follows the configuration again.' },
  };

/** Sets the send policy of this session; owner only (A9/94). */
const send = (value: keyof typeof policies, context: ChatCommandContext): SessionCommand => {
  if (context.sender.role !== 'owner')
    return noticeCommand('owner_only', `Only the owner may use /send.${nobodyIn(context)}`, context);
  const { policy, text } = policies[value];
  return { type: 'patch_session', settings: { sendPolicy: policy }, notice: { ...noticeOf('send_policy', context), text } };
};

/** Maximum characters of the free text of a command (A5/62, A11/126). */
const wordsCharacters = 2_000;

/** Replaces the conversation so far by a summary (A11/126). */
const compact = (instructions: string, context: ChatCommandContext): SessionCommand =>
  instructions.length > wordsCharacters
    ? noticeCommand('too_long', `Nothing was compacted: write instructions of at most ${wordsCharacters} characters.`, context)
    : { type: 'compact', ...(instructions !== '' && { instructions }), notice: noticeOf('compacted', context) };

type Answer = Pick<CommandOf<'resolve_approval'>, 'approvalId' | 'verdict' | 'scope' | 'reason'>;

/** The answer is by the sender, as the configuration identifies them; the session decides whether they may answer (A5/62, 66). */
const approvalAnswer = (context: ChatCommandContext, answer: Answer): SessionCommand => ({
  type: 'resolve_approval',
  ...answer,
  by: context.sender,
  notice: noticeOf('approval', context),
});

const deny = ({ approvalId, reason }: ChatCommand & { type: 'deny' }, context: ChatCommandContext): SessionCommand =>
  reason.length > wordsCharacters
    ? noticeCommand('too_long', `Nothing was denied: write a reason of at most ${wordsCharacters} characters.`, context)
    : approvalAnswer(context, { approvalId, verdict: 'denied', ...(reason !== '' && { reason }) });

const spellings = {
  '/approve': 'Nothing was approved. Write /approve ID, or /approve ID always; the ID is in the request.',
  '/deny': 'Nothing was denied. Write /deny ID, optionally with a reason; the ID is in the request.',
} as const;
