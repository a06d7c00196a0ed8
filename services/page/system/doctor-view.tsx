import type { DoctorReport } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { linkTo } from '../base/route.ts';
import { Pane, useRead } from '../parts/read.tsx';

const everyMs = 10_000;
const levelWords = { ok: 'Fine', warn: 'Warning', fail: 'Wrong' } as const;
const summaryClass = { ok: 'act-done', warn: 'item-trouble', fail: 'act-failed' } as const;
const order = { fail: 0, warn: 1, ok: 2 } as const;

/** What is checked, for who does not know the word. */
const checked: Readonly<Record<string, string>> = {
  settings: 'Passwords and addresses in the configuration',
  privacy: 'Whether two people share a conversation',
  owner: 'Who may do everything on the channels',
  address: 'Who can reach the gateway, the service behind this page',
  store: 'Whether the broker, which keeps everything, keeps what it is sent',
  queues: 'Messages that wait to be worked on',
  'log readers': 'How far the services have read in the log of all that happens',
  processes: 'Whether every part of Natter runs',
  answers: 'Whether the agent comes to an answer',
  checkpoints: 'Requests to a model to read what was said, for notes and memories',
  'dead letters': 'Messages that nobody could process, kept with the reason',
  deliveries: 'Messages to people that may not have arrived',
  tokens: 'The access tokens of people and programs',
};

/** Where the page shows what a finding is about. */
const seen: Readonly<Record<string, readonly [words: string, link: string]>> = {
  answers: ['The sessions whose last answer failed', linkTo(['sessions'], { status: 'failed' })],
  processes: ['The hosts', linkTo(['system', 'hosts'])],
  'dead letters': ['The dead letters', linkTo(['system', 'dead-letters'])],
  deliveries: ['The deliveries', linkTo(['system', 'deliveries'])],
};

/** The commands in a text, such as `natter token revoke ID`, with what is between them. */
const command = /(natter [a-z-]+(?: (?:create|revoke))?(?: (?:KEY|ID))?(?: --[a-z]+ [\w…]+)*)/;

const Fix = ({ what, fix }: { readonly what: string; readonly fix: string }) => {
  const place = seen[what];
  return (
    <p class="item-fix">
      {fix.split(command).map((part) => (command.test(part) ? <code key={part}>{part}</code> : part))}
      {place && (
        <>
          . <a href={place[1]}>{place[0]}</a>
        </>
      )}
    </p>
  );
};

/** What `natter doctor` says, in its words, the worst first. */
const DoctorView = () => {
  const read = useRead<DoctorReport>('/v1/doctor', { everyMs });
  const findings = [...(read.value?.findings ?? [])].sort((one, other) => order[one.level] - order[other.level]);
  const worst = findings[0]?.level ?? 'ok';
  const bad = findings.filter(({ level }) => level !== 'ok').length;
  return (
    <Pane title="Doctor" hint="What the gateway can check by itself, the worst first." read={read}>
      <p class={summaryClass[worst]} role="status">
        {bad === 0 ? 'Nothing is wrong in what was checked.' : `${counted(bad, 'finding')} to look at.`}
      </p>
      <ul class="items">
        {findings.map(({ what, level, detail, fix }) => (
          <li key={what} class={`item item-${level}`}>
            <header>
              <span class={`badge badge-${level}`}>{levelWords[level]}</span>
              <h2>{what}</h2>
            </header>
            {checked[what] !== undefined && <p class="hint">{checked[what]}</p>}
            <p>{detail}</p>
            {fix !== undefined && <Fix what={what} fix={fix} />}
          </li>
        ))}
      </ul>
      <section class="card" aria-labelledby="unchecked-title">
        <h2 id="unchecked-title">Not checked here</h2>
        <p>
          Whether the model’s provider answers and takes the key, the files of the machine, and the broker’s own settings. On the
          machine of the session hosts this command checks them too:
        </p>
        <pre>natter doctor</pre>
      </section>
    </Pane>
  );
};
export default DoctorView;
