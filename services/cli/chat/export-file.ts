import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Caller, NatterClient } from '../../../shared/client/main.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { decidedBy, personNamed } from '../../../shared/domain/values/person-words.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { commitsOf } from '../commits.ts';
import { readable } from './earlier.ts';
import { endedBy } from './turn-end.ts';

/** An event with what its commit says of it. `id` is `<seq>.<index>`. */
type Told = SessionEvent & Pick<RecordedCommit, 'at' | 'actor'> & { readonly id: string };

const told = ({ seq, at, actor, events }: RecordedCommit): Told[] =>
  events.map((event, index) => ({ ...event, at, actor, id: `${seq}.${index}` }));

/** Text that is shown as it is, whatever it contains. */
const block = (text: string): string => text.replaceAll(/^/gmu, '    ');

const verdictWords = { granted: 'Allowed', denied: 'Denied' } as const;

/** What an event says to people as Markdown, or `null`. `me`: the actor that the reader is in the log. */
const markdownOf = (event: Told, me: string): string | null => {
  const head = (who: string): string => `## ${who}, ${new Date(event.at).toISOString()}`;
  const isMine = event.actor === me;
  switch (event.type) {
    case 'user_message':
      return `${head(personNamed(event.message.sender, event.actor, me))}\n\n${event.message.text}`;
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
      return `${verdictWords[event.verdict]} ${isMine ? 'by you' : decidedBy(event.by)}${reason}.`;
    }
    case 'tool_result':
      return `Result of ${event.tool} (${event.outcome}):\n\n${block(event.text)}`;
    case 'session_reset':
      return '---';
    case 'turn_completed':
      return null;
    default: {
      const ended = endedBy(event, isMine);
      return ended && `*(${ended.how})*`;
    }
  }
};

const isMessage = ({ type }: Told): boolean => type === 'user_message' || type === 'assistant_message';

/** What was said and done in a session, as Markdown (B20), and the number of messages in it. */
export const sessionAsMarkdown = async (
  client: NatterClient,
  key: string,
): Promise<{ readonly text: string; readonly messages: number }> => {
  const { actor: me } = await client.get<Caller>('/v1/me');
  const all: Told[] = [];
  for await (const commit of commitsOf(client, key)) all.push(...told(commit));
  const events = readable(all);
  const parts = events.map((event) => markdownOf(event, me)).filter((part) => part !== null);
  return { text: `${parts.join('\n\n')}\n`, messages: events.filter(isMessage).length };
};

/**
 * Writes `sessionAsMarkdown` to a new file, and resolves with its path and the number of messages. Throws `NatterError('invalid')` where there is
 * a file already, or no folder for it.
 */
export const exportToFile = async (
  client: NatterClient,
  key: string,
  file: string,
): Promise<{ readonly path: string; readonly messages: number }> => {
  const path = resolve(file);
  const { text, messages } = await sessionAsMarkdown(client, key);
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') throw new NatterError('invalid', `${path} exists already; name another file`);
    if (code === 'ENOENT') throw new NatterError('invalid', `the folder ${dirname(path)} does not exist`);
    throw error;
  }
  return { path, messages };
};
