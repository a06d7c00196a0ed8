import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Memory } from '../../../shared/client/main.ts';
import { isMemorySession } from '../../../shared/domain/memory/memory-session.ts';
import { unescapeText } from '../../../shared/kit/text/escape-text.ts';
import { linkTo } from '../base/route.ts';
import { mayWrite } from '../base/signed-in.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { decidedText } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';

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
        <button type="submit" class="button button-first" disabled={isBusy}>
          Save
        </button>
        <button type="button" class="button" onClick={end}>
          Cancel
        </button>
      </div>
    </form>
  );
};

interface MemoryItemProps extends Pick<EditProps, 'isBusy' | 'save'> {
  readonly one: Memory;
  /** It is the outcome of an edit: the focus goes on here. */
  readonly isEdited: boolean;
  forget(): void;
}
/** A memory: its text, where it is known, who wrote it when and where, and who was given it. It can be edited and forgotten. */
export const MemoryItem = ({ one, isBusy, isEdited, save, forget }: MemoryItemProps) => {
  const [isOpen, open] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  const goOn = (): void => button.current?.focus({ preventScroll: true });
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen) goOn();
    wasOpen.current = isOpen;
  }, [isOpen]);
  useLayoutEffect(() => {
    if (isEdited) goOn();
  }, [isEdited]);
  return (
    <li class="item">
      {isOpen ? <EditMemory text={one.text} isBusy={isBusy} save={save} end={() => open(false)} /> : <p>{one.text}</p>}
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
        <a href={linkTo(['events'], { type: 'prompt_changed', memory: one.id })}>Who was given it</a>
      </p>
      {mayWrite() && !isOpen && (
        <div class="item-buttons">
          <button ref={button} type="button" class="button button-quiet" onClick={() => open(true)}>
            Edit
          </button>
          <button type="button" class="button button-quiet button-danger item-button-apart" onClick={forget}>
            Forget…
          </button>
        </div>
      )}
    </li>
  );
};
