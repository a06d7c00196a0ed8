import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../../../shared/client/main.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ResetButton } from '../chat/reset-button.tsx';
import { nameOf } from '../finding/session-name.ts';
import { ActOutcome, coveringMs, useAct } from '../parts/act.tsx';
import { Confirm, InfoDialog } from '../parts/confirm.tsx';
import { type Action, actions, labelsIn, lostWords } from './chosen.ts';
import { markedUnread } from './in-sight.ts';
import { whyKept } from './kept.ts';
import { readAgain } from './session-list.ts';

/** What is being written, above the buttons, which keep their place. */
interface Edited {
  readonly what: 'name' | 'labels';
  readonly text: string;
}

interface DeleteProps {
  readonly session: Session;
  readonly isBusy: boolean;
  remove(): void;
}

/** Deletes a session, once that is confirmed, or says why it is kept. */
const DeleteButton = ({ session, isBusy, remove }: DeleteProps) => {
  const [isAsking, setAsking] = useState(false);
  const kept = whyKept(session.key);
  const end = (): void => setAsking(false);
  return (
    <>
      <button
        type="button"
        class="button button-quiet button-danger"
        disabled={isBusy}
        title={kept ?? undefined}
        onClick={() => setAsking(true)}
      >
        Delete
        {kept !== null && <span class="unseen">: {kept}</span>}
      </button>
      {isAsking && kept !== null && (
        <InfoDialog title={`${nameOf(session)} cannot be deleted`} close={end}>
          <p>{kept}</p>
        </InfoDialog>
      )}
      {isAsking && kept === null && (
        <Confirm
          title={`Delete ${nameOf(session)}?`}
          words="Delete"
          isDangerous
          no={end}
          yes={() => {
            end();
            remove();
          }}
        >
          <p>{lostWords(1)}</p>
        </Confirm>
      )}
    </>
  );
};

/** How it is said that something was done. */
const doneWords = (action: Action): string => {
  const { done } = actions[action];
  const words = done.slice(0, 1).toUpperCase() + done.slice(1);
  return action === 'archive' ? `${words}. A new message brings it back.` : words;
};

/** What people do to keep their sessions in order (B24): a pin, a name, labels, and the archive. */
export const SessionActions = ({ session }: { readonly session: Session }) => {
  const [edited, edit] = useState<Edited | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isEditing = edited !== null;
  /** The button that has opened the form, which gets the focus back. */
  const opener = useRef<HTMLButtonElement | null>(null);
  useLayoutEffect(() => {
    if (isEditing) field.current?.select();
    else opener.current?.focus();
  }, [isEditing]);
  const open = (what: Edited['what'], text: string, button: HTMLButtonElement): void => {
    opener.current = button;
    edit({ what, text });
  };
  const act = useAct(coveringMs);
  if (!mayWrite()) return null;
  const { key, settings, status } = session;
  const offered: readonly Action[] = [
    settings.pinned ? 'unpin' : 'pin',
    status === 'inactive' && session.generation > 0 ? 'restore' : 'archive',
  ];
  const run = (call: Promise<unknown>, done: string): void => {
    void act.run(() => call.then(readAgain), done);
  };
  const save = ({ what, text }: Edited): void => {
    edit(null);
    if (what === 'name' && text === nameOf(session)) return;
    const words = labelsIn(text);
    if (what === 'name') run(client.sessions.patch(key, { displayName: text.trim() || null }), 'Name saved');
    else run(client.sessions.patch(key, { labels: words.length === 0 ? null : words }), 'Labels saved');
  };
  return (
    <div class="session-actions">
      {offered.map((action) => (
        <button
          key={action}
          type="button"
          class="button button-quiet"
          disabled={act.isBusy}
          onClick={() => run(actions[action].run(key), doneWords(action))}
        >
          {actions[action].words}
        </button>
      ))}
      <button type="button" class="button button-quiet" onClick={(event) => open('name', nameOf(session), event.currentTarget)}>
        Rename
      </button>
      <button
        type="button"
        class="button button-quiet session-labels"
        title={settings.labels?.join(', ')}
        onClick={(event) => open('labels', settings.labels?.join(', ') ?? '', event.currentTarget)}
      >
        <span>{settings.labels ? `Labels: ${settings.labels.join(', ')}` : 'Labels'}</span>
      </button>
      {edited !== null && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save(edited);
          }}
        >
          <label>
            <span>{edited.what === 'name' ? 'Name' : 'Labels, with commas between them'}</span>
            <input
              ref={field}
              value={edited.text}
              onInput={(event) => edit({ ...edited, text: event.currentTarget.value })}
              onKeyDown={(event) => event.key === 'Escape' && edit(null)}
            />
          </label>
          <button type="submit" class="button">
            Save
          </button>
          <button type="button" class="button button-quiet" onClick={() => edit(null)}>
            Cancel
          </button>
        </form>
      )}
      <button
        type="button"
        class="button button-quiet session-unread"
        disabled={act.isBusy}
        onClick={() => {
          markedUnread.value = session;
          run(client.sessions.markRead(key, { unread: true }), 'Marked as unread');
        }}
      >
        Mark as unread
      </button>
      <ResetButton sessionKey={key} style="button-quiet" />
      <DeleteButton session={session} isBusy={act.isBusy} remove={() => run(actions.delete.run(key), doneWords('delete'))} />
      <ActOutcome act={act} />
    </div>
  );
};
