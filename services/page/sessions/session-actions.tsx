import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../../../shared/client/main.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ResetButton } from '../chat/reset-button.tsx';
import { nameOf } from '../finding/session-name.ts';
import { type Act, ActOutcome, coveringMs, useAct } from '../parts/act.tsx';
import { Confirm, InfoDialog } from '../parts/confirm.tsx';
import { type Action, actions, labelsIn, lostWords } from './chosen.ts';
import { markedUnread } from './in-sight.ts';
import { whyKept } from './kept.ts';
import { readAgain } from './session-list.ts';

/** What is being written, above the buttons, which keep their place. */
interface Edited {
  readonly what: 'name' | 'labels';
  readonly text: string;
  /** Beside the name. */
  readonly icon: string;
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
      <span class="session-delete">
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
      </span>
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

interface FormProps {
  readonly edited: Edited;
  readonly act: Act;
  edit(edited: Edited): void;
  save(): void;
  leave(): void;
}

/** The form in which a name and an icon, or labels, are written; with what was wrong about them. */
const EditForm = ({ edited, act, edit, save, leave }: FormProps) => {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label>
        <span>{edited.what === 'name' ? 'Name' : 'Labels, with commas between them'}</span>
        <input
          ref={field}
          value={edited.text}
          onInput={(event) => edit({ ...edited, text: event.currentTarget.value })}
          onKeyDown={(event) => event.key === 'Escape' && leave()}
        />
      </label>
      {edited.what === 'name' && (
        <>
          <label class="session-icon">
            <span>Icon</span>
            <input
              aria-describedby="icon-hint"
              placeholder="🌱"
              value={edited.icon}
              onInput={(event) => edit({ ...edited, icon: event.currentTarget.value })}
              onKeyDown={(event) => event.key === 'Escape' && leave()}
            />
          </label>
          <small id="icon-hint">one emoji</small>
        </>
      )}
      <button type="submit" class="button" disabled={act.isBusy}>
        Save
      </button>
      <button type="button" class="button button-quiet" onClick={leave}>
        Cancel
      </button>
      {act.outcome?.failed && <ActOutcome act={act} />}
    </form>
  );
};

/** What people do to keep their sessions in order (B24): a pin, a name, labels, and the archive. */
export const SessionActions = ({ session }: { readonly session: Session }) => {
  const { key, settings, status } = session;
  const [edited, edit] = useState<Edited | null>(null);
  const isEditing = edited !== null;
  /** The button that has opened the form, which gets the focus back. */
  const opener = useRef<HTMLButtonElement | null>(null);
  useLayoutEffect(() => {
    if (!isEditing) opener.current?.focus();
  }, [isEditing]);
  const open = (what: Edited['what'], text: string, button: HTMLButtonElement): void => {
    opener.current = button;
    act.clear();
    edit({ what, text, icon: settings.icon ?? '' });
  };
  const act = useAct(coveringMs);
  if (!mayWrite()) return null;
  const offered: readonly Action[] = [
    settings.pinned ? 'unpin' : 'pin',
    status === 'inactive' && session.generation > 0 ? 'restore' : 'archive',
  ];
  const run = (call: Promise<unknown>, done: string): Promise<boolean> => act.run(() => call.then(readAgain), done);
  const leave = (): void => {
    act.clear();
    edit(null);
  };
  /** Of what is refused the form stays open with what was typed. */
  const close = (isSaved: boolean): void => {
    if (isSaved) edit(null);
  };
  const save = ({ what, text, icon }: Edited): void => {
    const words = labelsIn(text);
    if (what === 'labels')
      return void run(client.sessions.patch(key, { labels: words.length === 0 ? null : words }), 'Labels saved').then(close);
    const name = text === nameOf(session) ? {} : { displayName: text.trim() || null };
    const changes = { ...name, ...(icon !== (settings.icon ?? '') && { icon: icon.trim() || null }) };
    if (Object.keys(changes).length === 0) return edit(null);
    void run(client.sessions.patch(key, changes), 'icon' in changes ? 'Name and icon saved' : 'Name saved').then(close);
  };
  return (
    <div class="session-actions">
      {offered.map((action) => (
        <button
          key={action}
          type="button"
          class="button button-quiet"
          disabled={act.isBusy}
          onClick={() => void run(actions[action].run(key), doneWords(action))}
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
        <EditForm key={edited.what} edited={edited} edit={edit} act={act} save={() => save(edited)} leave={leave} />
      )}
      <button
        type="button"
        class="button button-quiet session-unread"
        disabled={act.isBusy}
        onClick={() => {
          markedUnread.value = session;
          void run(client.sessions.markRead(key, { unread: true }), 'Marked as unread');
        }}
      >
        Mark as unread
      </button>
      <ResetButton sessionKey={key} style="button-quiet" />
      <DeleteButton session={session} isBusy={act.isBusy} remove={() => void run(actions.delete.run(key), doneWords('delete'))} />
      {!isEditing && <ActOutcome act={act} />}
    </div>
  );
};
