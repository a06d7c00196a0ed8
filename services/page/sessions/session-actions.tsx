import { useState } from 'preact/hooks';
import type { Session } from '../../../shared/client/main.ts';
import { client, mayWrite, problemOf } from '../base/signed-in.ts';
import { readAgain } from './session-list.ts';

/** What people do to keep their sessions in order (B24): a pin, labels, and putting one aside. */
export const SessionActions = ({ session }: { readonly session: Session }) => {
  const [problem, setProblem] = useState<string | null>(null);
  const [labels, setLabels] = useState<string | null>(null);
  if (!mayWrite()) return null;
  const { key, settings, status } = session;
  const act = async (deed: Promise<unknown>): Promise<void> => {
    setProblem(null);
    try {
      await deed;
      await readAgain();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const saveLabels = (text: string): void => {
    setLabels(null);
    const words = [...new Set(text.split(',').map((word) => word.trim()))].filter((word) => word !== '');
    void act(client.sessions.patch(key, { labels: words.length === 0 ? null : words }));
  };
  return (
    <div class="session-actions">
      <button
        type="button"
        class="button button-quiet"
        onClick={() => void act(client.sessions.patch(key, { pinned: settings.pinned ? null : true }))}
      >
        {settings.pinned ? 'Unpin' : 'Pin'}
      </button>
      {status === 'inactive' ? (
        <button type="button" class="button button-quiet" onClick={() => void act(client.sessions.open(key))}>
          Take back
        </button>
      ) : (
        <button
          type="button"
          class="button button-quiet"
          onClick={() => void act(client.sessions.deactivate(key, { reason: 'archived on the page' }))}
        >
          Archive
        </button>
      )}
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
      {problem !== null && (
        <p class="approval-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
};
