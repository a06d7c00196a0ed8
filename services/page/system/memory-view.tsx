import { useRef, useState } from 'preact/hooks';
import type { Memory, MemoryPage } from '../../../shared/client/main.ts';
import { useDraft } from '../base/draft.ts';
import { changeQuery, route } from '../base/route.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { Paging } from '../loading/paging.tsx';
import { type Act, ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Empty } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { MemoryItem } from './memory-item.tsx';

const everyMs = 5_000;
const searchMs = 250;

const pathOf = (id: string): string => `/v1/memory/${encodeURIComponent(id)}`;

/** Adds what the agent should know everywhere. */
const AddMemory = ({ act, added }: { readonly act: Act; added(): void }) => {
  const [text, keep] = useDraft('memory');
  const add = async (): Promise<void> => {
    const body = { text: text.trim(), scope: 'agent' };
    if (!(await act.run(() => client.post('/v1/memory', body), 'It is remembered'))) return;
    keep('');
    added();
  };
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <label class="field">
        <span>Add a memory, known in every session of the agent</span>
        <input type="text" value={text} onInput={(event) => keep(event.currentTarget.value)} />
      </label>
      <div class="item-buttons">
        <button type="submit" class="button" disabled={act.isBusy || text.trim() === ''}>
          Add
        </button>
      </div>
    </form>
  );
};

/** Long-term memory: what is remembered, of whom, and which turn wrote it. */
const MemoryView = () => {
  const { find: q = '', cursor } = route.value.query;
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const query = q === '' ? { cursor, limit: 50 } : { query: q, limit: 50 };
  const read = useRead<MemoryPage>('/v1/memory', { query, everyMs });
  const [chosen, choose] = useState<Memory | null>(null);
  const act = useAct();
  const { memories = [], nextCursor = null } = read.value ?? {};
  const forget = async ({ id }: Memory): Promise<void> => {
    choose(null);
    if (await act.run(() => client.delete(pathOf(id), { query: { reason: 'asked for on the page' } }), 'Forgotten')) read.again();
  };
  /** The one that has taken the place of one that was edited: whoever edited it goes on there. */
  const [edited, setEdited] = useState<{ readonly id: string; readonly before: string } | null>(null);
  // Until the one before is gone from the list, the focus is there.
  const isReplaced = edited !== null && !memories.some(({ id }) => id === edited.before);
  /** Another one with its scope takes its place: it is added first, so that nothing is lost. */
  const change = async ({ id, scope }: Memory, text: string): Promise<boolean> => {
    const work = async (): Promise<void> => {
      const added = await client.post<{ id: string }>('/v1/memory', { text, scope });
      setEdited({ id: added.id, before: id });
      await client.delete(pathOf(id), { query: { reason: 'edited on the page' } });
    };
    return act.run(work, 'It is changed').finally(read.again);
  };
  const seek = (text: string): void => {
    act.clear();
    clearTimeout(typing.current);
    typing.current = setTimeout(() => changeQuery({ find: text.trim(), cursor: '' }), searchMs);
  };
  return (
    <Pane title="Memory" hint="What is remembered beyond one conversation, and where it came from." read={read}>
      <label class="field">
        <span>Search</span>
        <input type="search" defaultValue={q} onInput={(event) => seek(event.currentTarget.value)} />
      </label>
      {mayWrite() && <AddMemory act={act} added={read.again} />}
      <ActOutcome act={act} />
      {memories.length === 0 ? (
        <Empty title={q === '' ? 'Nothing is remembered yet' : 'Nothing matches'}>
          <p>
            {q === ''
              ? 'What the agent should know in every conversation. It notes things itself, and you can add more. The notes of one conversation alone are in its time machine.'
              : 'No memory has these words.'}
          </p>
        </Empty>
      ) : (
        <ul class="items">
          {memories.map((one) => (
            <MemoryItem
              key={one.id}
              one={one}
              isBusy={act.isBusy}
              isEdited={isReplaced && one.id === edited.id}
              save={(text) => change(one, text)}
              forget={() => choose(one)}
            />
          ))}
        </ul>
      )}
      <Paging before={cursor} next={nextCursor} go={(to) => changeQuery({ cursor: to })} />
      {chosen && (
        <Confirm title="Forget this?" words="Forget" isDangerous yes={() => void forget(chosen)} no={() => choose(null)}>
          <p>{chosen.text}</p>
        </Confirm>
      )}
    </Pane>
  );
};
export default MemoryView;
