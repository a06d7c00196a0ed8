import { streamWaits } from '../base/system-events.ts';
import { fileName } from '../files/file-words.ts';
import { Problem } from '../parts/empty.tsx';
import type { ChatStore } from './chat-store.ts';
import type { Outgoing } from './outgoing.ts';

/** Whether a message waits for the connection, as far as the page knows. */
const isHeldUp = ({ isWaiting = false }: Outgoing): boolean => isWaiting || streamWaits.value !== null;

/** A message of ours that is on its way, or could not be sent. */
export const Sent = ({ one, store }: { readonly one: Outgoing; readonly store: ChatStore }) => (
  <article class="said said-user said-outgoing">
    <header>
      <span class="said-who">You</span>
      <span>{one.problem !== null ? 'not sent' : isHeldUp(one) ? 'waiting' : 'sending…'}</span>
    </header>
    {one.text !== '' && <p class="plain">{one.text.trimStart()}</p>}
    {one.files.length > 0 && <p class="file-facts">With {one.files.map(fileName).join(', ')}</p>}
    {one.problem === null && isHeldUp(one) && (
      <p class="said-held">
        Waiting for the connection. It will be sent when that is back.
        <button type="button" class="button button-quiet" onClick={() => store.discard(one.messageId)}>
          Discard
        </button>
      </p>
    )}
    {one.problem !== null && (
      <Problem
        text={one.problem}
        {...(one.lostFiles === undefined && { again: () => void store.send(one.text, one.files, one.messageId) })}
        discard={() => store.discard(one.messageId)}
      />
    )}
  </article>
);
