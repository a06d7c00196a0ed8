import type { ComponentChildren } from 'preact';
import { useReducer, useState } from 'preact/hooks';
import type { ConfigInForce, Query } from '../../../shared/client/main.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { streamWaits } from '../base/system-events.ts';
import { LineToCopy, Problem } from './empty.tsx';
import { usePoll } from './poll.ts';

/** What a call answers. `again` asks once more; what was answered before stays until then. */
export interface Read<T> {
  readonly value: T | null;
  readonly problem: string | null;
  again(): void;
}

interface ReadOptions {
  readonly query?: Query;
  /** Asks again so often while the page is seen, ms. Default: never. */
  readonly everyMs?: number;
}

/** Makes a call of the API, and again when its path or its query is another one; `null`: none, as it would be refused. */
export const useRead = <T,>(path: string | null, { query = {}, everyMs }: ReadOptions = {}): Read<T> => {
  const [{ value, problem }, set] = useState<{ value: T | null; problem: string | null }>({ value: null, problem: null });
  const [turn, again] = useReducer((turns: number, _: null) => turns + 1, 0);
  const asked = JSON.stringify(query);
  const read = async (signal: AbortSignal): Promise<void> => {
    if (path === null) return;
    try {
      const answer = await client.get<T>(path, { query: JSON.parse(asked) as Query, signal });
      set({ value: answer, problem: null });
    } catch (error) {
      if (!signal.aborted) set((before) => ({ value: before.value, problem: problemOf(error) }));
    }
  };
  usePoll(read, everyMs, [path, asked, everyMs, turn]);
  return { value, problem, again: () => again(null) };
};

/** A line for the configuration, and the file where it goes. */
export const LineForTheFile = ({ line }: { readonly line: string }) => {
  const { value } = useRead<ConfigInForce>('/v1/config');
  const file = value?.file ?? 'natter.json, in ~/.natter if you chose no other folder';
  return <LineToCopy says={`Put this line between the outer braces of the file ${file}:`} line={line} />;
};

interface PaneProps {
  readonly title: string;
  readonly hint: string;
  readonly read: Pick<Read<unknown>, 'value' | 'problem' | 'again'>;
  readonly children: ComponentChildren;
}

/** A view of the system: its name, what it is for, and what the gateway says, or why it does not. */
export const Pane = ({ title, hint, read, children }: PaneProps) => {
  // While the gateway is away the page says so, once.
  const problem = streamWaits.value === null ? read.problem : null;
  return (
    <section class="view" aria-labelledby="view-title">
      <header class="pane-head">
        <h1 id="view-title">{title}</h1>
        <p class="hint">{hint}</p>
      </header>
      {problem !== null && <Problem text={problem} again={read.again} />}
      {read.value === null ? problem === null && <p class="loading">Reading…</p> : children}
    </section>
  );
};
