import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../../../shared/client/main.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { type Action, actions, labelsIn, lostWords } from './chosen.ts';
import { readAgain } from './session-list.ts';
import { nameOf } from './session-name.ts';

/** What people do to keep their sessions in order (B24): a pin, labels, and the archive. */
export const SessionActions = ({ session }: { readonly session: Session }) => {
  const [labels, setLabels] = useState<string | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const isEditing = labels !== null;
  useLayoutEffect(() => {
    if (isEditing) field.current?.select();
  }, [isEditing]);
  const act = useAct();
  if (!mayWrite()) return null;
  const { key, settings, status } = session;
  const offered: readonly Action[] = [settings.pinned ? 'unpin' : 'pin', status === 'inactive' ? 'restore' : 'archive'];
  const run = (call: Promise<unknown>, done: string): void => {
    void act.run(() => call.then(readAgain), done);
  };
  const saveLabels = (text: string): void => {
    setLabels(null);
    const words = labelsIn(text);
    run(client.sessions.patch(key, { labels: words.length === 0 ? null : words }), 'Labels saved');
  };
  return (
    <div class="session-actions">
      {offered.map((action) => (
        <button
          key={action}
          type="button"
          class="button button-quiet"
          disabled={act.isBusy}
          onClick={() => run(actions[action].run(key), `Session ${actions[action].done}`)}
        >
          {actions[action].words}
        </button>
      ))}
      {labels === null ? (
        <button type="button" class="button button-quiet" onClick={() => setLabels(settings.labels?.join(', ') ?? '')}>
          {settings.labels ? `Labels: ${settings.labels.join(', ')}` : 'Labels'}
        </button>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            saveLabels(labels);
          }}
        >
          <input
            ref={field}
            aria-label="Labels, with commas between them"
            placeholder="home, travel"
            value={labels}
            onInput={(event) => setLabels(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Escape' && setLabels(null)}
          />
          <button type="submit" class="button">
            Save
          </button>
          <button type="button" class="button button-quiet" onClick={() => setLabels(null)}>
            Cancel
          </button>
        </form>
      )}
      <button
        type="button"
        class="button button-quiet"
        disabled={act.isBusy}
        onClick={() => run(client.sessions.markRead(key, { unread: true }), 'Marked as unread')}
      >
        Mark as unread
      </button>
      <button type="button" class="button button-quiet button-danger" disabled={act.isBusy} onClick={() => setDeleting(true)}>
        Delete
      </button>
      {isDeleting && (
        <Confirm
          title={`Delete ${nameOf(session)}?`}
          words="Delete"
          isDangerous
          no={() => setDeleting(false)}
          yes={() => {
            setDeleting(false);
            run(actions.delete.run(key), 'Session deleted');
          }}
        >
          <p>{lostWords}</p>
        </Confirm>
      )}
      <ActOutcome act={act} />
    </div>
  );
};
