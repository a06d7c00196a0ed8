import { effect, signal } from '@preact/signals';
import type { NatterEvent } from '../../../shared/client/main.ts';
import { client, who } from '../base/signed-in.ts';
import { onEvent } from '../base/system-events.ts';
import { type Named, nameOf, withoutAgent } from './session-name.ts';

/** What people call sessions of which only the key is at hand: by their rows in the list, which may hide them, else by the gateway. */

interface ListedRows {
  readonly byKey: ReadonlyMap<string, Named>;
}

const listed = signal<ListedRows>({ byKey: new Map() });
/** The last rows of the sessions that were asked for. */
const known = signal<ReadonlyMap<string, Named>>(new Map());
const asked = new Set<string>();
let before: Promise<unknown> = Promise.resolve();

const rowOf = (key: string): Named | undefined => listed.value.byKey.get(key) ?? known.value.get(key);

/** Reads the row of a session once; one after another, as a view may ask for many. Who may not read it keeps to the key. */
const ask = (key: string): void => {
  if (asked.has(key)) return;
  asked.add(key);
  const caller = who.peek();
  before = before
    .then(() => client.sessions.get(key))
    .then(
      (row) => {
        if (who.peek() === caller) known.value = new Map([...known.peek(), [key, row]]);
      },
      () => {},
    );
};

/** The name of a session where a row of it is at hand; never asks the gateway. */
export const nameAtHand = (key: string): string | undefined => {
  const row = rowOf(key);
  return row && nameOf(row);
};

/** The same; else the key without the agent. */
export const knownNameOf = (key: string, shownKey = key): string => nameAtHand(key) ?? withoutAgent(shownKey);

/** The name of a session, which the gateway is asked for where it is not known: until it answers, the key without the agent. */
export const nameOfKey = (key: string, shownKey = key): string => {
  if (rowOf(key) === undefined) ask(key);
  return knownNameOf(key, shownKey);
};

const renames: ReadonlySet<string> = new Set([
  ...['settings_changed', 'origin_changed', 'introspected', 'message_edited', 'message_withdrawn'],
  ...['session_opened', 'session_reset', 'history_damaged'],
]);

/** Something was recorded of a session that may change its name. */
const noteEvent = ({ key, type }: NatterEvent): void => {
  if (type === 'session_deleted') {
    // Asked for again when it begins anew.
    asked.add(key);
    known.value = new Map([...known.peek()].filter(([other]) => other !== key));
  }
  if (!asked.has(key)) return;
  const { firstWords, firstWordsEndedSeq } = known.peek().get(key) ?? {};
  const isUnnamed = !firstWords || firstWordsEndedSeq !== undefined;
  if (!renames.has(type) && !(type === 'user_message' && isUnnamed)) return;
  asked.delete(key);
  ask(key);
};

/** Follows the rows of the list, what is recorded, and who is signed in. `rows`: `null` while they are read. */
export const followNames = (rows: { readonly value: ListedRows | null }): void => {
  onEvent(noteEvent);
  effect(() => {
    void who.value;
    asked.clear();
    known.value = new Map();
    listed.value = { byKey: new Map() };
  });
  effect(() => {
    if (rows.value !== null) listed.value = rows.value;
  });
};
