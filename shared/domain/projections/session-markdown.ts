import { bareKey } from '../keys/session-key.ts';
import { messageText } from '../prompt/sub-agent-message.ts';
import type { RecordedCommit } from '../session/envelope.ts';
import type { EventOf, SessionEvent } from '../session/events.ts';
import { attachedText } from '../values/attachment.ts';
import { decidedWords, personNamed } from '../values/person-words.ts';
import { withoutSilence } from '../values/silence.ts';
import { readableEvents } from './readable-events.ts';
import { forkVerb, restartWords } from './rewind-words.ts';
import { endedBy } from './turn-end.ts';

/** An event with what its commit says of it. `id` is `<seq>.<index>`. */
type Told = SessionEvent & Pick<RecordedCommit, 'at' | 'actor'> & { readonly id: string };

const told = ({ seq, at, actor, events }: RecordedCommit): Told[] =>
  events.map((event, index) => ({ ...event, at, actor, id: `${seq}.${index}` }));

/** Text that is shown as it is, whatever it contains. */
const block = (text: string): string => text.replaceAll(/^/gmu, '    ');

const verdictWords = { granted: 'Allowed', denied: 'Denied' } as const;

const resetMarkdown = ({ cause, forkedFrom }: EventOf<'session_reset'>): string => {
  const restart = cause?.trigger === 'api' ? restartWords(cause.rule) : null;
  const words = forkedFrom ? `${forkVerb(cause?.rule)} from commit ${forkedFrom.rev}: what follows goes on from there` : restart;
  return words === null ? '---' : `---\n\n*(${words})*`;
};

/** What an event says to people as Markdown, or `null`. `me`: the actor that the reader is in the log. */
const eventMarkdown = (event: Told, me: string | undefined): string | null => {
  const head = (who: string): string => `## ${who}, ${new Date(event.at).toISOString()}`;
  const isMine = event.actor === me;
  switch (event.type) {
    case 'user_message':
      return [
        head(personNamed(event.message.sender, event.actor, me)),
        messageText(event.message),
        attachedText(event.message.attachments),
      ]
        .filter((part) => part !== '')
        .join('\n\n');
    case 'assistant_message':
      return `${head('Agent')}\n\n${withoutSilence(event.text).trim() === '' ? '(no reply)' : event.text}`;
    case 'model_step': {
      if (event.flush) return null;
      const said = event.finish === 'continue' && event.text.trim() !== '' ? [`${head('Agent')}\n\n${event.text}`] : [];
      const calls = (event.calls ?? []).map(({ tool, arguments: args }) => `Calls the tool ${tool}:\n\n${block(args)}`);
      return [...said, ...calls].join('\n\n') || null;
    }
    case 'approval_resolved': {
      if (event.verdict === 'expired') return 'Nobody answered in time.';
      const reason = event.reason === undefined ? '' : `: ${event.reason}`;
      return `${verdictWords[event.verdict]} ${isMine ? 'by you' : decidedWords(event.by, me)}${reason}.`;
    }
    case 'tool_result':
      return `Result of ${event.tool} (${event.outcome}):\n\n${block(event.text)}`;
    case 'session_reset':
      return resetMarkdown(event);
    case 'turn_completed':
      return null;
    default: {
      const ended = endedBy(event, isMine);
      return ended && `*(${ended.how})*`;
    }
  }
};

const isMessage = ({ type }: Told): boolean => type === 'user_message' || type === 'assistant_message';

/** The last turn that began has no end yet. */
const isUnderWay = (events: readonly Told[]): boolean => {
  const begun = events.findLast((event) => event.type === 'turn_started');
  if (begun === undefined) return false;
  const { id } = begun.turn;
  return !events.slice(events.indexOf(begun)).some((event) => {
    if (event.type === 'assistant_message') return event.turn.id === id && !event.interim;
    return event.type === 'session_reset' || endedBy(event, false)?.turnIds.includes(id);
  });
};

/** The name that a session was given last, or has from its origin; else its key without the agent. */
const nameIn = (commits: readonly RecordedCommit[]): string => {
  let [given, ofOrigin]: (string | null | undefined)[] = [];
  for (const event of commits.flatMap(({ events }) => events)) {
    if (event.type === 'settings_changed' && event.changes.displayName !== undefined) given = event.changes.displayName;
    if (event.type === 'origin_changed') ofOrigin = event.origin.displayName ?? event.origin.label;
  }
  return given || ofOrigin || bareKey(commits[0]?.key ?? '');
};

/**
 * What was said and done in a session as Markdown, and the number of its messages. `me`: the actor that the reader is in the log. `name`: what
 * the reader calls the session, if it is not by what the commits say.
 */
export const sessionMarkdown = (
  commits: readonly RecordedCommit[],
  me: string | undefined,
  name = nameIn(commits),
): { readonly text: string; readonly messages: number } => {
  const events = readableEvents(commits.flatMap(told));
  const parts = events.map((event) => eventMarkdown(event, me)).filter((part) => part !== null);
  if (commits[0] !== undefined) parts.unshift(`# ${name.replaceAll(/\s+/gu, ' ')}`, `Session \`${commits[0].key}\``);
  if (isUnderWay(events)) parts.push('*(the answer was under way)*');
  return { text: `${parts.join('\n\n')}\n`, messages: events.filter(isMessage).length };
};
