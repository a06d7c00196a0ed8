import type { Skills } from '../../../shared/client/main.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Empty } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';

type Skill = Skills['skills'][number];

const everyMs = 5_000;
const levels = { eligible: 'ok', ineligible: 'warn', shadowed: 'none', unusable: 'fail' } as const;
const statusWords = { eligible: 'In use', ineligible: 'Lacks something', shadowed: 'Shadowed', unusable: 'Unusable' } as const;

const One = ({ one }: { readonly one: Skill }) => (
  <li class={`item item-${levels[one.status]}`}>
    <header>
      <span class={`badge badge-${levels[one.status]}`}>{statusWords[one.status]}</span>
      <h2>{one.name ?? one.folder}</h2>
    </header>
    {one.description !== '' && <p>{one.description}</p>}
    {one.reasons.map((reason) => (
      <p key={reason} class="item-trouble">
        {reason}
      </p>
    ))}
    {one.repair !== null && (
      <p class="item-fix">
        <code>{one.repair}</code> <CopyButton text={one.repair} what="the command" />
      </p>
    )}
    {one.notes.map((note) => (
      <p key={note} class="hint">
        {note}
      </p>
    ))}
    <p class="item-facts">
      <span>{one.source}</span>
      <code>{one.folder}</code>
    </p>
  </li>
);

/** Every skill, and what each one lacks. */
const SkillsView = () => {
  const read = useRead<Skills>('/v1/skills', { everyMs });
  const skills = read.value?.skills ?? [];
  return (
    <Pane
      title="Skills"
      hint="As this gateway's machine finds them. A skill that lacks something says what, and the command that repairs it."
      read={read}
    >
      {skills.length === 0 ? (
        <Empty title="No skills yet">
          <p>Put a folder with a SKILL.md into the folder “skills” of the workspace, or install one:</p>
          <pre>natter skills search calendar</pre>
        </Empty>
      ) : (
        <ul class="items">
          {skills.map((one) => (
            <One key={one.folder} one={one} />
          ))}
        </ul>
      )}
    </Pane>
  );
};
export default SkillsView;
