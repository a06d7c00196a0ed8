import { computed, effect, signal } from '@preact/signals';
import type { FoundMessages, NatterEvent } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { linkTo, listQuery } from '../base/route.ts';
import { client, problemOf, who } from '../base/signed-in.ts';
import { viewsFor } from '../finding/filtered-views.ts';
import { nameOfKey } from '../finding/known-names.ts';
import { Problem } from '../parts/empty.tsx';
import { plainText } from '../parts/one-line.ts';
import { Time } from '../parts/time.tsx';
import { search } from './session-list.ts';

/** What was said with the words that are searched for, below the sessions that have them in their names. */

const found = signal<FoundMessages | null>(null);
/** How many messages have the words that are searched for. */
export const foundCount = computed(() => found.value?.messages.length ?? 0);
const foundProblem = signal<string | null>(null);
const [mostMessages, mostViews] = [30, 3];

export const followSearch = (): void => {
  effect(() => {
    const words = search.value;
    found.value = null;
    foundProblem.value = null;
    if (words === '' || !who.value) return undefined;
    const controller = new AbortController();
    client.sessions.search(words, { limit: mostMessages, signal: controller.signal }).then(
      (answer) => {
        if (!controller.signal.aborted) found.value = answer;
      },
      (error: unknown) => {
        if (!controller.signal.aborted) foundProblem.value = problemOf(error);
      },
    );
    return () => controller.abort();
  });
};

/** A session was deleted while its messages are shown: they are in no search any more. */
export const forgetDeleted = ({ type, key }: Pick<NatterEvent, 'type' | 'key'>): void => {
  const { value: shown } = found;
  if (type !== 'session_deleted' || shown === null) return;
  found.value = { ...shown, messages: shown.messages.filter((message) => message.key !== key) };
};

/** A text with the words marked that were searched for. */
const Marked = ({ text, words }: { readonly text: string; readonly words: string }) => {
  const patterns = words.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const parts = text.split(new RegExp(`(${patterns.join('|')})`, 'iu'));
  // Between each two parts is one that matched.
  return <>{parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
};

const speakerWords = (role: 'user' | 'assistant', from: string | undefined): string => {
  if (role === 'assistant') return 'from the agent';
  return from === undefined ? 'to the agent' : `from ${from}`;
};

/** Views that the words name, such as the sessions that were reset: no message says that. */
const NamedViews = () => {
  const views = viewsFor(search.value, mostViews);
  return views.length === 0 ? null : (
    <nav class="found-views" aria-label="Views with these words">
      {views.map(({ words, path, query }) => (
        <a key={words} href={linkTo(path, query)}>
          {words}
        </a>
      ))}
    </nav>
  );
};

export const Found = () => (
  <>
    <NamedViews />
    <FoundInMessages />
  </>
);

const foundWords = (count: number): string => {
  if (count === 0) return 'No message has all these words';
  return `Said in ${counted(count, 'message')}${count === 1 ? '' : ', the best match first'}`;
};

const FoundInMessages = () => {
  if (search.value === '') return null;
  if (foundProblem.value !== null) return <Problem text={foundProblem.value} />;
  if (found.value === null) return <p class="hint found-head">Searching messages…</p>;
  const { messages, since, complete } = found.value;
  return (
    <section class="found" aria-label="Messages with these words">
      <h2 class="found-head">
        {foundWords(messages.length)}
        {since > 0 && <small> (searched back to log sequence {since})</small>}
        {!complete && <small> (the newest are still being read)</small>}
      </h2>
      <ul>
        {messages.map(({ key, shownKey, id, at, role, from, excerpt }) => (
          <li key={id}>
            <a href={linkTo(['sessions', key, 'chat'], { ...listQuery(), said: id })}>
              <span class="found-where">
                {nameOfKey(key, shownKey)}, <Marked text={speakerWords(role, from)} words={search.value} />, <Time at={at} />
              </span>
              <span class="found-text">
                <Marked text={plainText(excerpt)} words={search.value} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
};
