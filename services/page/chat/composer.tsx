import { useState } from 'preact/hooks';
import type { SessionRow } from '../../../shared/client/main.ts';
import { mayWrite } from '../base/signed-in.ts';
import { Icon } from '../parts/icon.tsx';
import type { ChatStore } from './chat-store.ts';

const draftName = (key: string): string => `natter-draft:${key}`;

const queueWords: Readonly<Record<SessionRow['queueMode'], string>> = {
  followup: 'is answered after this one',
  collect: 'is collected and answered with the next ones',
  steer: 'joins the answer that is under way',
  interrupt: 'stops this answer and begins another',
  reject: 'is refused until this answer is finished',
};

const Hint = ({ store, row }: { readonly store: ChatStore; readonly row: SessionRow | null }) => {
  if (!store.chat.value.isRunning || row === null) return <p class="hint">Enter sends, Shift+Enter begins a new line.</p>;
  return <p class="hint">It is answering. A message sent now {queueWords[row.queueMode]}.</p>;
};

/** Where a person writes. What is not sent yet is kept in this tab, through a reload as well. */
export const Composer = ({ store, row }: { readonly store: ChatStore; readonly row: SessionRow | null }) => {
  const [text, setText] = useState(sessionStorage.getItem(draftName(store.key)) ?? '');
  const keep = (draft: string): void => {
    setText(draft);
    if (draft === '') sessionStorage.removeItem(draftName(store.key));
    else sessionStorage.setItem(draftName(store.key), draft);
  };
  const send = (): void => {
    if (text.trim() === '') return;
    void store.send(text.trim());
    keep('');
  };
  const sendOnEnter = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  if (!mayWrite()) return <p class="composer-off hint">This sign-in only reads.</p>;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div class="composer-box">
        <textarea
          aria-label="Message"
          placeholder="Write a message"
          rows={Math.min(8, text.split('\n').length)}
          value={text}
          onInput={(event) => keep(event.currentTarget.value)}
          onKeyDown={sendOnEnter}
        />
        {store.chat.value.isRunning && (
          <button type="button" class="button button-round" aria-label="Stop the answer" onClick={() => void store.stop()}>
            <Icon name="stop" />
          </button>
        )}
        <button type="submit" class="button button-round button-first" aria-label="Send" disabled={text.trim() === ''}>
          <Icon name="send" />
        </button>
      </div>
      <Hint store={store} row={row} />
    </form>
  );
};
