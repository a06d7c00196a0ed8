import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { draftOf, keepDraft } from '../base/draft.ts';
import { Confirm } from '../parts/confirm.tsx';
import { whyNotSent } from '../writing/refused-line.ts';
import { isSendKey, sendKeyWords } from '../writing/send-key.ts';
import type { SaidItem } from './chat-model.ts';
import type { ChatStore } from './chat-store.ts';
import { consequences, consequencesNow, isBusy, laterThan } from './consequences.ts';

interface Given {
  readonly item: SaidItem;
  readonly store: ChatStore;
}

export const editDraft = ({ item, store }: Given): string => `${store.key} ${item.id}`;

/** A message as somebody would write it: a recorded one is text, whatever it looks like. */
export const asWritten = (text: string): string => (text.startsWith('/') ? ` ${text}` : text);

interface EditMessageProps extends Given {
  readonly draft: string;
  /** Closes the field and keeps its text. */
  close(): void;
  /** Closes it for good. */
  end(): void;
}

/** A message as it is written anew, in its place. */
export const EditMessage = ({ item, store, draft, close, end }: EditMessageProps) => {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isEmpty, setEmpty] = useState(draft.trim() === '');
  const [isSending, setSending] = useState(false);
  const [refused, refuse] = useState<string | null>(null);
  const told = useMemo(() => consequencesNow(store.chat, item.id, () => store.isFirst(item)), [item, store]);
  useLayoutEffect(() => {
    field.current?.form?.scrollIntoView({ block: 'nearest' });
    field.current?.focus();
    field.current?.setSelectionRange(draft.length, draft.length);
  }, []);
  const send = async (): Promise<void> => {
    // What is in the field is sent, whoever has written it there.
    const text = field.current?.value.trimEnd() ?? '';
    if (text === '' || isSending) return;
    setSending(true);
    const why = await whyNotSent(text);
    refuse(why);
    // It is kept until the message is replaced.
    if (why === null && (await store.replace(item, text))) end();
    setSending(false);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    if (!isSendKey(event)) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      class="said-edit"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={field}
        aria-label="Edited message"
        rows={Math.min(8, draft.split('\n').length + 1)}
        defaultValue={draft}
        onInput={(event) => {
          const { value } = event.currentTarget;
          keepDraft(editDraft({ item, store }), value === asWritten(item.text) ? null : value);
          setEmpty(value.trim() === '');
          refuse(null);
        }}
        onKeyDown={onKey}
      />
      {refused !== null && (
        <p class="composer-refused" role="alert">
          {refused}
        </p>
      )}
      <p class="hint">
        {`${told.value} ${sendKeyWords()}`}
        {item.attachments !== undefined && ' Its files are sent again.'}
      </p>
      <p class="said-actions">
        <button type="button" class="button" onClick={end}>
          Cancel
        </button>
        <button type="submit" class="button button-first" disabled={isEmpty || isSending}>
          Send instead
        </button>
      </p>
    </form>
  );
};

/** Sends a message again, which goes on from before it. It is asked first where something would be left behind. */
export const TryAgain = ({ item, store, style }: Given & { readonly style: string }) => {
  const [asked, ask] = useState<string | null>(null);
  const again = (): void => {
    ask(null);
    store.field.current?.focus();
    void store.replace(item, asWritten(item.text));
  };
  const askOrDo = (): void => {
    const chat = store.chat.peek();
    if (laterThan(chat.items, item.id).length > 0 || isBusy(chat)) ask(consequences(chat, item.id, store.isFirst(item)));
    else again();
  };
  return (
    <>
      <button type="button" class={`button ${style}`} onClick={askOrDo}>
        Try again
      </button>
      {asked !== null && (
        <Confirm title="Try again from here?" words="Try again" no={() => ask(null)} yes={again}>
          <p>The same message is sent again.</p>
          <p>{asked}</p>
        </Confirm>
      )}
    </>
  );
};

/** Edits a message, or sends it again. What failed last is tried again below its error. */
export const MessageActions = ({ item, store, edit }: Given & { edit(): void }) => (
  <div class="said-actions">
    <button type="button" class="button button-quiet" onClick={edit}>
      {draftOf(editDraft({ item, store })) === null ? 'Edit' : 'Continue editing'}
    </button>
    {store.failed.value?.message !== item && <TryAgain item={item} store={store} style="button-quiet" />}
  </div>
);
