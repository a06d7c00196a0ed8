import { type Session, sessionPath } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { spanText } from '../../../shared/kit/text/span-text.ts';
import { now } from '../base/now.ts';
import { linkTo } from '../base/route.ts';
import { modelText } from '../parts/model-words.ts';
import { plainLine } from '../parts/one-line.ts';
import { personOf } from '../parts/person.ts';
import { useRead } from '../parts/read.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import type { ApprovalStory } from './approval-story.ts';

/** It may go on while a question waits: a stranger's holds it up no longer, and messages come. ms. */
const everyMs = 10_000;
const lineCharacters = 160;

const Status = ({ sessionKey }: { readonly sessionKey: string }) => {
  const { value: session } = useRead<Session>(sessionPath(sessionKey), { everyMs });
  if (session === null) return null;
  const model = modelText(session.settings.model, session.model || undefined);
  return (
    <>
      <dt>Now</dt>
      <dd class="approval-now">
        <StatusBadge status={session.status} />
        <span>{counted(session.messageCount, 'message')}</span>
        {model !== null && <span>{model}</span>}
      </dd>
    </>
  );
};

const callWords: Readonly<Record<string, string>> = { ok: 'done', error: 'failed', unknown: 'unknown outcome' };

interface Props {
  readonly sessionKey: string;
  readonly story: ApprovalStory;
}

/** The session that an answer would change, as it is now: what it does, what the answer under way did so far, and what was said. */
export const SessionNow = ({ sessionKey, story: { startedAt, calls = [], said = [] } }: Props) => (
  <>
    <Status sessionKey={sessionKey} />
    {startedAt !== undefined && (
      <>
        <dt>Its answer</dt>
        <dd>
          began {spanText(now.value - startedAt)} ago (<Time at={startedAt} exact />
          ),{' '}
          {calls.length === 0
            ? 'and this is its first call'
            : `and made ${counted(calls.length, 'call')} before: ${calls
                .map(({ tool, outcome }) => `${tool} (${callWords[outcome] ?? outcome})`)
                .join(', ')}`}
        </dd>
      </>
    )}
    {said.length > 0 && (
      <>
        <dt>Said before</dt>
        <dd>
          <details class="approval-said">
            <summary>{said.length === 1 ? 'The last line' : `The last ${said.length} lines`}</summary>
            <ul>
              {said.map(({ seq, role, sender, actor, text }) => (
                <li key={`${seq}${role}`}>
                  <a href={linkTo(['sessions', sessionKey, 'time'], { at: `${seq}` })}>
                    {role === 'user' ? personOf(sender, actor) : 'Agent'}
                  </a>{' '}
                  {plainLine(text, lineCharacters)}
                </li>
              ))}
            </ul>
          </details>
        </dd>
      </>
    )}
  </>
);
