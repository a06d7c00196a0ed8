import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Memory, MemoryPage } from '../../../shared/client/main.ts';
import { isMemorySession } from '../../../shared/domain/memory/memory-session.ts';
import { unescapeText } from '../../../shared/kit/text/escape-text.ts';
import { changeQuery, linkTo, route } from '../base/route.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { type Act, ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Empty } from '../parts/empty.tsx';
import { decidedText } from '../parts/person.ts';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';
import { Paging } from './paging.tsx';

const everyMs = 5_000;
const searchMs = 250;

const pathOf = (id: string): string => `/v1/memory/${encodeURIComponent(id)}`;

const writer = ({ by, person }: Memory['source']): string =>
  by === 'person' ? decidedText(person ?? 'a person') : by === 'agent' ? 'by the agent, with its tool' : 'from a checkpoint';

/** Where a memory is known. */
const ScopeWords = ({ scope }: Pick<Memory, 'scope'>) => {
  const [, kind, rest = ''] = /^(\w+):(.*)$/s.exec(scope) ?? [];
  const person = kind === 'person' ? unescapeText(rest.slice(rest.indexOf(':') + 1)) : '';
  return (
    <span title={scope}>
      {kind === 'session' && (
        <>
          known in <SessionLink sessionKey={rest} /> alone
        </>
      )}
      {kind === 'agent' && 'known in every session of the agent'}
      {kind === 'person' && `known in the own sessions of ${person}`}
    </span>
  );
};

interface EditProps {
  readonly text: string;
  readonly isBusy: boolean;
  /** Resolves with whether it was saved: what could not be saved stays in the field. */
  save(text: string): Promise<boolean>;
  end(): void;
}
const EditMemory = ({ text, isBusy, save, end }: EditProps) => {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        const written = field.current?.value.trim() ?? '';
        if (written === '' || written === text) end();
        else void save(written).then((isSaved) => isSaved && end());
      }}
    >
      <textarea ref={field} aria-label="Edited memory" defaultValue={text} onKeyDown={({ key }) => key === 'Escape' && end()} />
      <div class="item-buttons">
        <button type="button" class="button" onClick={end}>
          Cancel
        </button>
        <button type="submit" class="button button-first" disabled={isBusy}>
          Save
        </button>
      </div>
    </form>
  );
};

interface OneProps extends Pick<EditProps, 'isBusy' | 'save'> {
  readonly one: Memory;
  forget(): void;
}
const One = ({ one, isBusy, save, forget }: OneProps) => {
  const [isEdited, edit] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const end = (): void => {
    edit(false);
    button.current?.focus();
  };
  return (
    <li class="item">
      {isEdited ? <EditMemory text={one.text} isBusy={isBusy} save={save} end={end} /> : <p>{one.text}</p>}
      <p class="item-facts">
        <ScopeWords scope={one.scope} />
        <span>
          {writer(one.source)}, <Time at={one.updatedAt} />
        </span>
        {!isMemorySession(one.source.key) && (
          <>
            <a href={linkTo(['sessions', one.source.key, 'time'], { at: `${one.source.seq}` })}>The moment it was written</a>
            <span>
              in <SessionLink sessionKey={one.source.key} />
            </span>
          </>
        )}
      </p>
      {mayWrite() && (
        <div class="item-buttons">
          <button ref={button} type="button" class="button button-quiet" aria-expanded={isEdited} onClick={() => edit(!isEdited)}>
            Edit
          </button>
          <button type="button" class="button button-quiet button-danger" onClick={forget}>
            Forget…
          </button>
        </div>
      )}
    </li>
  );
};

/** Adds what the agent should know everywhere. */
const AddMemory = ({ act, added }: { readonly act: Act; added(): void }) => {
  const [text, setText] = useState('');
  const add = async (): Promise<void> => {
    const body = { text: text.trim(), scope: 'agent' };
    if (!(await act.run(() => client.post('/v1/memory', body), 'It is remembered'))) return;
    setText('');
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
        <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
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
  /** Another one with its scope takes its place: it is added first, so that nothing is lost. */
  const change = async ({ id, scope }: Memory, text: string): Promise<boolean> => {
    const work = async (): Promise<void> => {
      await client.post('/v1/memory', { text, scope });
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
              ? 'What the agent should know in every conversation. It notes things itself, and you can add more.'
              : 'No memory has these words.'}
          </p>
        </Empty>
      ) : (
        <ul class="items">
          {memories.map((one) => (
            <One key={one.id} one={one} isBusy={act.isBusy} save={(text) => change(one, text)} forget={() => choose(one)} />
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
