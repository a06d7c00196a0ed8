import type { DoctorReport } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { Pane, useRead } from '../parts/read.tsx';

const everyMs = 10_000;
const levelWords = { ok: 'Fine', warn: 'Warning', fail: 'Wrong' } as const;
const order = { fail: 0, warn: 1, ok: 2 } as const;

/** What `natter doctor` says, in its words, the worst first. */
const DoctorView = () => {
  const read = useRead<DoctorReport>('/v1/doctor', { everyMs });
  const findings = [...(read.value?.findings ?? [])].sort((one, other) => order[one.level] - order[other.level]);
  const bad = findings.filter(({ level }) => level !== 'ok').length;
  return (
    <Pane
      title="Doctor"
      hint="The checks of natter doctor that a gateway can make. The command also looks at its machine and at the broker's own settings, and asks the model's provider."
      read={read}
    >
      <p class={bad === 0 ? 'act-done' : 'item-trouble'} role="status">
        {bad === 0 ? 'Nothing is wrong.' : `${counted(bad, 'finding')} to look at.`}
      </p>
      <ul class="items">
        {findings.map(({ what, level, detail, fix }) => (
          <li key={what} class={`item item-${level}`}>
            <header>
              <span class={`badge badge-${level}`}>{levelWords[level]}</span>
              <h2>{what}</h2>
            </header>
            <p>{detail}</p>
            {fix !== undefined && <p class="item-fix">{fix}</p>}
          </li>
        ))}
      </ul>
    </Pane>
  );
};
export default DoctorView;
