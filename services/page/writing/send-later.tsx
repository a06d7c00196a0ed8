import { useState } from 'preact/hooks';
import { isTextBySpace } from '../../../shared/domain/routing/chat-help.ts';
import { draftOf, keepDraft } from '../base/draft.ts';
import { now } from '../base/now.ts';
import { linkTo } from '../base/route.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { Confirm } from '../parts/confirm.tsx';
import { oneLine } from '../parts/one-line.ts';
import { Time } from '../parts/time.tsx';
import { fieldTime, nextHour } from './local-time.ts';
import { whyNotSent } from './refused-line.ts';

/** A message that was given a time, and that time, ms. */
interface Scheduled {
  readonly text: string;
  readonly at: number;
}

interface Given {
  readonly sessionKey: string;
  readonly text: string;
  readonly messageId: string;
  close(): void;
  done(scheduled: Scheduled): void;
}

/** Asks when a message is to be sent, and leaves it with the gateway until then. */
const SendLater = ({ sessionKey, text, messageId, close, done }: Given) => {
  const [time, setTime] = useState(fieldTime(nextHour(now.peek())));
  const [problem, setProblem] = useState<string | null>(null);
  const schedule = async (): Promise<void> => {
    const at = new Date(time).getTime();
    if (at <= Date.now()) return setProblem('That time is over: choose a later one.');
    try {
      const why = await whyNotSent(text);
      if (why !== null) return setProblem(why);
      const message = { text: text.trim(), messageId, sendAt: at, ...(isTextBySpace(text) && { commands: false }) };
      await client.sessions.post(sessionKey, message, { idempotencyKey: messageId });
      done({ text: text.trim(), at });
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Confirm title="Send later" words="Send then" form="send-later" isOff={time === ''} no={close}>
      <form
        id="send-later"
        onSubmit={(event) => {
          event.preventDefault();
          void schedule();
        }}
      >
        <label class="field">
          <span>When, on your clock</span>
          <input type="datetime-local" required value={time} onInput={(event) => setTime(event.currentTarget.value)} />
        </label>
      </form>
      {problem !== null && (
        <p class="composer-refused" role="alert">
          {problem}
        </p>
      )}
    </Confirm>
  );
};

const keptName = (sessionKey: string): string => `${sessionKey} scheduled`;
const keptFor = (sessionKey: string): Scheduled | null => JSON.parse(draftOf(keptName(sessionKey)) ?? 'null');
/** A message to a session that is sent later was cancelled: its chat says no more that it is. */
export const forgetScheduled = (sessionKey: string): void => keepDraft(keptName(sessionKey), null);

const shownWidth = 60;

/** Says when a message will be sent, and where it can be taken back. */
const ScheduledNote = ({ scheduled: { text, at } }: { readonly scheduled: Scheduled }) => (
  <p class="composer-later" role="status">
    “{oneLine(text, shownWidth)}” will be sent: <Time at={at} clock />.{' '}
    <a href={linkTo(['system', 'schedules'])}>See it, or cancel it</a>
  </p>
);

/** Sending what is written later. `sent`: it is with the gateway. The chat says so until the time has come, in this tab. */
export const useSendLater = (sessionKey: string, text: string, sent: () => void) => {
  const [messageId, ask] = useState<string | null>(null);
  const [scheduled, setScheduled] = useState(keptFor(sessionKey));
  const done = (message: Scheduled): void => {
    ask(null);
    setScheduled(message);
    keepDraft(keptName(sessionKey), JSON.stringify(message));
    sent();
  };
  return {
    /** Under which id it will be sent. */
    ask,
    dialog: messageId !== null && (
      <SendLater sessionKey={sessionKey} text={text} messageId={messageId} close={() => ask(null)} done={done} />
    ),
    note: scheduled && scheduled.at > now.value && <ScheduledNote scheduled={scheduled} />,
  };
};
