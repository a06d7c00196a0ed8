import type { Session } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { now } from '../base/now.ts';
import { firstFailed, linkTo, listQuery } from '../base/route.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { modelText } from '../parts/model-words.ts';
import { asSentence } from '../parts/one-line.ts';
import { decidedText } from '../parts/person.ts';
import { knownAfterFork, nextResets, whenBack } from '../parts/reset-words.ts';
import { failedAnswers } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { resetText } from './session-why.ts';
import { channelIn, participantsText } from './who-writes.ts';

/** What its next message finds: when it starts afresh, and that it brings an archived session back. */
const Ahead = ({ session }: { readonly session: Session }) => {
  if (session.status === 'inactive' && session.generation > 0) {
    const { words, at } = whenBack(session, now.value);
    return (
      <span class="why-next">
        {words} {at !== null && <Time at={at} clock />}
      </span>
    );
  }
  return (
    <>
      {nextResets(session, now.value).map(({ words, at }) => (
        <span
          key={words}
          class="why-next"
          title="The first message after that starts afresh: the agent no longer knows what was said before"
        >
          {words} <Time at={at} clock />
        </span>
      ))}
    </>
  );
};

/** Why the session is at its present generation, and when the next begins. */
export const Why = ({ session }: { readonly session: Session }) => {
  const { lastReset } = session;
  return (
    <p class="why">
      <span title={lastReset?.fromSeq === undefined ? lastReset?.rule : asSentence(knownAfterFork)}>
        {lastReset ? (
          resetText(session, now.value, lastReset.actor === undefined ? undefined : decidedText(lastReset.actor))
        ) : (
          <>
            Started <Time at={session.createdAt} />
          </>
        )}
      </span>
      {lastReset && (
        <a href={linkTo(['sessions', session.key, 'time'], { ...listQuery(), at: `${lastReset.seq}` })}>Show that moment</a>
      )}
      <Ahead session={session} />
    </p>
  );
};

/** Counts of the session as it is now, which a view of its past says. */
export const Facts = ({ session, isPast }: { readonly session: Session; readonly isPast: boolean }) => {
  const model = modelText(session.settings.model, session.model || undefined);
  const parent = session.source?.ids?.parent;
  const [channel, participants] = [channelIn(session), participantsText(session.participants)];
  const since = session.lastReset ? (session.lastReset.fromSeq === undefined ? ' since the reset' : ' since the fork') : '';
  return (
    <>
      {isPast && <span>now:</span>}
      <span>
        {session.messageCount === 0 ? 'nothing said' : counted(session.messageCount, 'message')}
        {since}
      </span>
      {session.failedTurns > 0 && (
        <a href={linkTo(['sessions', session.key, 'time'], { ...listQuery(), at: firstFailed })}>
          {failedAnswers(session.failedTurns)}
        </a>
      )}
      {session.totalTokens > 0 && (
        <span title="Tokens that its model has read and written">
          {session.totalTokens.toLocaleString()} tokens{since}
        </span>
      )}
      {model !== null && <span class="session-model">{model}</span>}
      {parent !== undefined && (
        <span>
          sub-agent of <SessionLink sessionKey={parent} />
        </span>
      )}
      {channel !== null && <span title="Where it was used last, and where answers to it go">channel: {channel}</span>}
      {participants !== null && <span title="Who has written here, programs aside">participants: {participants}</span>}
    </>
  );
};
