import type { Skills } from '../../../shared/client/main.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Empty, LineToCopy } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';

type Skill = Skills['skills'][number];

const everyMs = 5_000;
const levels = { eligible: 'ok', ineligible: 'warn', shadowed: 'none', unusable: 'fail' } as const;
const statusWords = {
  eligible: 'In use',
  ineligible: 'Lacks something',
  shadowed: 'Another is used',
  unusable: 'Unusable',
} as const;
const sourceWords: Readonly<Record<string, string>> = {
  workspace: 'from skills in the workspace',
  agents: 'from .agents/skills in the workspace',
  managed: 'installed with natter skills',
  bundled: 'comes with Natter',
  plugin: 'comes with a plugin',
  extra: 'from a folder of skills.load.extraDirs',
};

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
      <span>{sourceWords[one.source] ?? one.source}</span>
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
          <p>
            What the agent has learned to do is listed here. Put a folder with a file SKILL.md into the folder “skills” of its
            workspace, or look for one that others have written.
          </p>
          <LineToCopy says="On a terminal, for example:" line="natter skills search calendar" />
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
