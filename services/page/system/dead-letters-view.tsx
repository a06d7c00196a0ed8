import { useState } from 'preact/hooks';
import type { DeadLetter, DeadLetterPage, DeadLetterWithMessage } from '../../../shared/client/main.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { Paging } from '../loading/paging.tsx';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm, InfoDialog } from '../parts/confirm.tsx';
import { Empty, LineToCopy } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { Time } from '../parts/time.tsx';

const everyMs = 5_000;

const prospectWords = ({ isPossible, wouldRepeat }: DeadLetterWithMessage['resend']): string => {
  if (!isPossible) return 'It cannot be sent again';
  if (wouldRepeat === null) return 'Whether that would be a repeat is not known';
  return wouldRepeat ? 'That would be a repeat' : 'That would not be a repeat';
};

const useLetter = (seq: number) => useRead<DeadLetterWithMessage>(`/v1/dead-letters/${seq}`);

const Message = ({ seq }: { readonly seq: number }) => {
  const { value, problem } = useLetter(seq);
  if (value === null) return <p class="hint">{problem ?? 'Reading…'}</p>;
  const { message, resend } = value;
  return (
    <>
      <pre>{message === null ? 'It cannot be read.' : JSON.stringify(message, null, 2)}</pre>
      <p class="hint">
        {prospectWords(resend)}: {resend.why}.
      </p>
    </>
  );
};

interface QuestionProps {
  readonly seq: number;
  yes(): void;
  no(): void;
}

/** Says before the click whether a resend would be a repeat. */
const ResendQuestion = ({ seq, yes, no }: QuestionProps) => {
  const { value, problem } = useLetter(seq);
  const words = value ? `${prospectWords(value.resend)}: ${value.resend.why}.` : (problem ?? 'Reading…');
  if (value?.resend.isPossible)
    return (
      <Confirm title="Send it again?" words="Send again" yes={yes} no={no}>
        <p>{words}</p>
      </Confirm>
    );
  return (
    <InfoDialog title="Send it again?" close={no}>
      <p>{words}</p>
    </InfoDialog>
  );
};

/** What a person decides about a message. */
const Decision = ({ seq, decided }: { readonly seq: number; readonly decided: () => void }) => {
  const [asked, ask] = useState<'resend' | 'discard' | null>(null);
  const [reason, setReason] = useState('');
  const act = useAct();
  const decide = async (what: 'resend' | 'discard'): Promise<void> => {
    ask(null);
    const path = `/v1/dead-letters/${seq}`;
    const call = () =>
      what === 'resend' ? client.post(`${path}/resend`, {}) : client.delete(path, { query: { reason: reason.trim() } });
    if (await act.run(call, what === 'resend' ? 'Back in its queue' : 'Discarded')) decided();
  };
  return (
    <>
      <div class="item-buttons">
        <button type="button" class="button" disabled={act.isBusy} onClick={() => ask('resend')}>
          Send again…
        </button>
        <button type="button" class="button button-danger" disabled={act.isBusy} onClick={() => ask('discard')}>
          Discard…
        </button>
      </div>
      <ActOutcome act={act} />
      {asked === 'resend' && <ResendQuestion seq={seq} yes={() => void decide('resend')} no={() => ask(null)} />}
      {asked === 'discard' && (
        <Confirm title="Discard it for good?" words="Discard" isDangerous yes={() => void decide('discard')} no={() => ask(null)}>
          <label class="field">
            <span>Why? It is noted in the audit trail.</span>
            <input type="text" value={reason} maxLength={500} onInput={(event) => setReason(event.currentTarget.value)} />
          </label>
        </Confirm>
      )}
    </>
  );
};

const One = ({ one, decided }: { readonly one: DeadLetter; readonly decided: () => void }) => {
  const [isOpen, open] = useState(false);
  return (
    <li class="item item-warn">
      <header>
        <span class="badge badge-warn">{one.service}</span>
        <h2>{one.reason}</h2>
        <Time at={one.at} />
      </header>
      <p class="item-facts">
        {one.sessionKey !== undefined && (
          <span>
            of <SessionLink sessionKey={one.sessionKey} />
          </span>
        )}
        <span>number {one.seq}</span>
        <span>{one.size} bytes</span>
        <code>{one.subject}</code>
      </p>
      <details onToggle={(event) => open(event.currentTarget.open)}>
        <summary>Its message</summary>
        {isOpen && <Message seq={one.seq} />}
      </details>
      {mayWrite() && <Decision seq={one.seq} decided={decided} />}
    </li>
  );
};

/** Messages that nobody could process. */
const DeadLettersView = () => {
  const [before, setBefore] = useState<number | undefined>(undefined);
  const read = useRead<DeadLetterPage>('/v1/dead-letters', { query: { before, limit: 50 }, everyMs });
  const { deadLetters = [], next = null } = read.value ?? {};
  return (
    <Pane title="Dead letters" hint="Messages that nobody could process. Each waits here for a decision." read={read}>
      {deadLetters.length === 0 ? (
        <Empty title="No dead letters">
          <p>A message that no service can process is kept here, with the reason, until you send it again or discard it.</p>
          <LineToCopy says="On a terminal the same is shown by:" line="natter dead-letters" />
        </Empty>
      ) : (
        <ul class="items">
          {deadLetters.map((one) => (
            <One key={one.seq} one={one} decided={read.again} />
          ))}
        </ul>
      )}
      <Paging before={before} next={next} go={setBefore} />
    </Pane>
  );
};
export default DeadLettersView;
