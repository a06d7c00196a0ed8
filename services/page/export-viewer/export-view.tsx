import { signal } from '@preact/signals';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { changeQuery, linkTo, route } from '../base/route.ts';
import { who } from '../base/signed-in.ts';
import { lazy } from '../loading/lazy.tsx';
import { Problem } from '../parts/empty.tsx';
import type { PastSource } from '../past/past.ts';
import { ExportFile, exportCommand, type FileSession } from './export-file.ts';

const TimeMachine = lazy(() => import('../time-machine/time-machine-view.tsx'));
const Transcript = lazy(() => import('../transcript/transcript-view.tsx'));

/** A larger file would not fit into a tab; `natter verify` and `natter replay` read any. */
const mostMegabytes = 200;
/** Lines between two pauses, so that the page never stops. */
const linesAtOnce = 200;
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

interface Opened {
  readonly name: string;
  readonly sessions: readonly FileSession[];
}
const opened = signal<Opened | null>(null);
const problem = signal<string | null>(null);
const isReading = signal(false);

const read = async (file: File): Promise<void> => {
  opened.value = null;
  problem.value = null;
  isReading.value = true;
  try {
    if (file.size > mostMegabytes * 1024 * 1024)
      throw new Error(`it has more than ${mostMegabytes} MB; export one session alone, or check it with natter verify`);
    const lines = (await file.text()).split('\n');
    const content = new ExportFile();
    for (const [index, line] of lines.entries()) {
      content.take(line);
      if (index % linesAtOnce === 0) await breathe();
    }
    opened.value = { name: file.name, sessions: content.end() };
  } catch (error) {
    problem.value = `${file.name}: ${error instanceof Error ? error.message : String(error)}`;
  }
  isReading.value = false;
};

/** One for each session, so that views see the same one again. */
const sources = new WeakMap<FileSession, PastSource>();
const sourceOf = (session: FileSession): PastSource => {
  const known = sources.get(session);
  if (known) return known;
  const made: PastSource = {
    isLive: false,
    async *commits(after) {
      for (const commit of session.commits) if (commit.seq > after) yield commit;
    },
    async *recorded() {},
    problemOf: errorMessage,
  };
  sources.set(session, made);
  return made;
};

const Choice = () => {
  const take = (files: FileList | null | undefined): void => {
    const file = files?.[0];
    if (file) void read(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping a file is one way, the field in it the other
    <div
      class="drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer?.files);
      }}
    >
      <label class="field">
        <span>A file that natter export wrote</span>
        <input type="file" accept=".jsonl,.json,.ndjson" onChange={(event) => take(event.currentTarget.files)} />
      </label>
      <p class="hint">
        It is read here, in this tab; nothing is sent. Write one with <code>{exportCommand}</code>, or use <i>Download JSONL</i>{' '}
        (JSON lines) of a transcript; its Markdown is for people to read.
      </p>
    </div>
  );
};

const verdict = ({ commits, problem: wrong, isVerified }: FileSession): string => {
  if (wrong !== null) return `Damaged: ${wrong}`;
  const count = counted(commits.length, 'commit');
  return isVerified ? `Whole: ${count}` : `${count} in order; whether they were changed was not checked`;
};

/** What the verdict stands for, and what it does not. */
const checked = ({ isVerified }: FileSession): string =>
  isVerified
    ? 'Checked: the digest of each commit’s bytes, that each commit names the digest of the one before it, and that the last line has the right count and digest. Not checked: who wrote the file. Whoever can write it can make all of that fit.'
    : 'Checked: that no commit is missing between the first and the last, and that each names the digest of the one before it. Not checked: whether words were changed, and whether commits are missing at the end. For that the digests on its lines are not enough: they are those of stored bytes, which only a file of natter export --stored has.';

const verdictClass = ({ problem: wrong, isVerified }: FileSession): string => {
  if (wrong !== null) return 'act-failed';
  return isVerified ? 'act-done' : 'export-unverified';
};

/** The name of a session, with its key where another has the same name. */
const optionText = ({ key, name, problem: wrong }: FileSession, all: readonly FileSession[]): string => {
  const isAlone = all.filter((other) => other.name === name).length === 1;
  return `${isAlone ? name : `${name}, ${key}`}${wrong === null ? '' : ' (damaged)'}`;
};

const One = ({ session, tab }: { readonly session: FileSession; readonly tab: string }) => {
  const source = sourceOf(session);
  return (
    <>
      <p class={verdictClass(session)} role="status">
        {verdict(session)}
      </p>
      {session.problem === null && <p class="hint">{checked(session)}</p>}
      <nav class="tabs" aria-label="Views of this session">
        {(['time', 'transcript'] as const).map((name) => (
          <a
            key={name}
            href={linkTo(['export'], { key: session.key, tab: name })}
            aria-current={name === tab ? 'page' : undefined}
          >
            {name === 'time' ? 'Time machine' : 'Transcript'}
          </a>
        ))}
      </nav>
      {tab === 'transcript' ? (
        <Transcript
          key={session.key}
          sessionKey={session.key}
          name={session.name}
          source={source}
          timeLink={(seq) => linkTo(['export'], { key: session.key, tab: 'time', at: `${seq}` })}
          lineLink={(seq) => linkTo(['export'], { key: session.key, tab: 'transcript', at: `${seq}` })}
        />
      ) : (
        <TimeMachine key={`${session.key} ${route.peek().query.at ?? ''}`} sessionKey={session.key} source={source} />
      )}
    </>
  );
};

/** Shows the sessions of an exported file as the page shows those of a gateway, without one. */
const ExportView = () => {
  const { key, tab = 'time' } = route.value.query;
  const sessions = opened.value?.sessions ?? [];
  const session = sessions.find((one) => one.key === key) ?? sessions[0];
  return (
    <section class="session export" aria-labelledby="export-title">
      <header class="session-head">
        <h1 id="export-title">{opened.value?.name ?? 'An exported file'}</h1>
        {who.value ? <a href={linkTo(['system'])}>Back to System</a> : <a href={linkTo([])}>Sign in to a gateway</a>}
        {opened.value === null ? (
          <Choice />
        ) : (
          <div class="fields">
            <label class="field">
              <span>Session</span>
              <select value={session?.key} onChange={(event) => changeQuery({ key: event.currentTarget.value, at: '' })}>
                {sessions.map((one) => (
                  <option key={one.key} value={one.key}>
                    {optionText(one, sessions)}
                  </option>
                ))}
              </select>
            </label>
            <button
              type="button"
              class="button"
              onClick={() => {
                opened.value = null;
                changeQuery({ key: '', at: '' });
              }}
            >
              Another file
            </button>
          </div>
        )}
      </header>
      {isReading.value && <p class="loading">Reading…</p>}
      {problem.value !== null && <Problem text={problem.value} />}
      {session && <One session={session} tab={tab} />}
    </section>
  );
};
export default ExportView;
