import { useLayoutEffect } from 'preact/hooks';
import type { Session, SessionRow } from '../../../shared/client/main.ts';
import { sessionChannel } from '../../../shared/domain/values/types.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { draftOf, useDraft } from '../base/draft.ts';
import { beginsToWrite } from '../base/new-chat.ts';
import { now } from '../base/now.ts';
import { isViewer, mayWrite } from '../base/signed-in.ts';
import { AttachButton, ChosenFiles } from '../files/attach.tsx';
import { chooseFiles, chosenFor, refusalOf } from '../files/chosen-files.ts';
import { takePasted } from '../files/drop.ts';
import { Icon } from '../parts/icon.tsx';
import { startsAfresh } from '../parts/reset-words.ts';
import { isSendKey, sendKeyWords } from '../writing/send-key.ts';
import { useSendLater } from '../writing/send-later.tsx';
import { useCheckedLine } from '../writing/use-checked-line.ts';
import { useCompletions } from '../writing/use-completions.tsx';
import type { ChatStore } from './chat-store.ts';
import { newMessageId } from './outgoing.ts';
import { waitingIn } from './waiting.ts';

/** What becomes of a message that is sent now. */
const queueWords: Readonly<Record<SessionRow['queueMode'], string>> = {
  followup: 'is answered after this one',
  collect: 'is collected and answered with the next ones',
  steer: 'joins the answer that is under way',
  interrupt: 'stops this answer and begins another',
  reject: 'is refused until this answer is finished',
};

/** What is written here has no target, and neither has its answer: whoever writes by the channel sees none of it. */
const notSentTo = (channel: string): string => `Neither what you write here nor its answer is sent to ${channel}.`;

/** Whether an answer is under way, or stands still until a person allows or denies a call. */
const isUnderWay = (store: ChatStore, row: Session | null): boolean =>
  store.chat.value.isRunning || row?.status === 'awaiting_approval';

const Hint = ({ store, row }: { readonly store: ChatStore; readonly row: Session | null }) => {
  if (isUnderWay(store, row) && row !== null) {
    const waits = waitingIn(store.chat.value.items).length;
    return (
      <p class="hint">
        {store.chat.value.isRunning ? 'It is answering' : 'It waits for an approval'}
        {waits > 0 && `, ${waits} more waiting`}. A message sent now {queueWords[row.queueModeByCall]}
        {row.queueModeByCall === 'followup' && waits > 0 && ` and the ${waits === 1 ? 'one that waits' : `${waits} that wait`}`}.
        {waits > 0 && <b> Stop also drops {counted(waits, 'waiting message')}.</b>}
      </p>
    );
  }
  return (
    <p class="hint">
      {row && row.messageCount > 0 && startsAfresh(row, now.value) ? (
        <b>Your next message starts afresh: the agent will not know what is above.</b>
      ) : (
        sendKeyWords()
      )}
      {row?.lastRoute && row.lastRoute.channel !== sessionChannel && ` ${notSentTo(row.lastRoute.channel)}`}
    </p>
  );
};

const StopButton = ({ store, stop }: { readonly store: ChatStore; stop(): void }) => {
  const waits = waitingIn(store.chat.value.items).length;
  const label = `Stop the answer${waits === 0 ? '' : `, and drop ${counted(waits, 'waiting message')}`}`;
  return (
    <button type="button" class="button composer-stop" aria-label={label} title={label} onClick={stop}>
      <Icon name="stop" /> <span class="composer-stop-word">Stop</span>
    </button>
  );
};

/** Where a person writes. What is not sent yet is kept in this tab, through a reload as well. */
export const Composer = ({ store, row }: { readonly store: ChatStore; readonly row: Session | null }) => {
  const [text, keep] = useDraft(store.key);
  const { files } = chosenFor(store.key).value;
  const isReady = (text.trim() !== '' || files.length > 0) && refusalOf(files) === null;
  const post = (): void => {
    void store.send(text.trimEnd(), files);
    keep('');
    chooseFiles(store.key, []);
    // The button that was pressed is off now: what is typed next is a message too.
    store.field.current?.focus();
  };
  const checked = useCheckedLine(text, () => draftOf(store.key), post);
  const send = (): void => {
    if (isReady) checked.send();
  };
  const later = useSendLater(store.key, text, () => {
    keep('');
    store.field.current?.focus();
  });
  useLayoutEffect(() => {
    if (beginsToWrite(store.key)) store.field.current?.focus();
  }, [store]);
  const stop = (): void => {
    void store.stop();
    store.field.current?.focus();
  };
  const completions = useCompletions(text, (whole) => {
    keep(whole);
    store.field.current?.focus();
  });
  const sendOnEnter = (event: KeyboardEvent): void => {
    if (completions.takeKey(event) || !isSendKey(event)) return;
    event.preventDefault();
    send();
  };
  if (isViewer()) return null;
  if (!mayWrite()) return <p class="composer-off hint">This sign-in can only read.</p>;
  // What may grow or go stands above the buttons, which stay where they are.
  return (
    <>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {completions.list}
        <ChosenFiles sessionKey={store.key} field={store.field} />
        {checked.refused !== null ? (
          <p class="composer-refused" role="alert">
            {checked.refused}
          </p>
        ) : (
          <Hint store={store} row={row} />
        )}
        <div class="composer-box">
          <AttachButton sessionKey={store.key} field={store.field} />
          <textarea
            ref={store.field}
            aria-label="Message"
            {...completions.field}
            placeholder="Write a message"
            rows={Math.min(6, text.split('\n').length)}
            value={text}
            onInput={(event) => keep(event.currentTarget.value)}
            onKeyDown={sendOnEnter}
            onPaste={(event) => takePasted(store.key, event)}
          />
          {isUnderWay(store, row) && <StopButton store={store} stop={stop} />}
          <button
            type="button"
            class="button button-round"
            aria-label="Send later"
            aria-describedby={files.length > 0 ? 'not-later' : undefined}
            title={isReady || files.length > 0 ? 'Send later' : 'Send later: write a message first'}
            disabled={!isReady || files.length > 0}
            onClick={() => later.ask(newMessageId())}
          >
            <Icon name="clock" />
          </button>
          <button type="submit" class="button button-round button-first" aria-label="Send" disabled={!isReady}>
            <Icon name="send" />
          </button>
        </div>
        {files.length > 0 && (
          <p class="composer-later" id="not-later">
            A message with files cannot be sent later.
          </p>
        )}
        {later.note}
      </form>
      {later.dialog}
    </>
  );
};
