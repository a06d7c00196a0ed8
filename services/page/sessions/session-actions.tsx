import { useState } from 'preact/hooks';
import type { Session } from '../../../shared/client/main.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { type Action, actions } from './chosen.ts';
import { readAgain } from './session-list.ts';

/** What people do to keep their sessions in order (B24): a pin, labels, and the archive. */
export const SessionActions = ({ session }: { readonly session: Session }) => {
  const [labels, setLabels] = useState<string | null>(null);
  const act = useAct();
  if (!mayWrite()) return null;
  const { key, settings, status } = session;
  const offered: readonly Action[] = [settings.pinned ? 'unpin' : 'pin', status === 'inactive' ? 'restore' : 'archive'];
  const run = (call: Promise<unknown>, done: string): void => {
    void act.run(() => call.then(readAgain), done);
  };
  const saveLabels = (text: string): void => {
    setLabels(null);
    const words = [...new Set(text.split(',').map((word) => word.trim()))].filter((word) => word !== '');
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
            aria-label="Labels, with commas between them"
            placeholder="home, travel"
            value={labels}
            onInput={(event) => setLabels(event.currentTarget.value)}
          />
          <button type="submit" class="button">
            Save
          </button>
        </form>
      )}
      <button
        type="button"
        class="button button-quiet"
        disabled={act.isBusy}
        onClick={() => run(client.sessions.markRead(key, { unread: true }), 'Marked as new')}
      >
        Mark as new
      </button>
      <ActOutcome act={act} />
    </div>
  );
};
