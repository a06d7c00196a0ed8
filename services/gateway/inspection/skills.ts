import { reservedCommands } from '../../../shared/domain/routing/chat-command.ts';
import { type Explanation, eligibleSet } from '../../../shared/runtime/skills/explain.ts';
import { seesAllOnly } from '../context/access.ts';
import type { Call } from '../operation/operation.ts';

/** The command that brings what a skill lacks, where the skill says how. */
const repairOf = ({ skill, status, reasons }: Explanation): string | null =>
  status === 'ineligible' &&
  skill !== null &&
  skill.manifest.install.length > 0 &&
  reasons.some((reason) => /installed\.$/.test(reason))
    ? `natter skills install ${skill.name}`
    : null;

const swapped = <A, B>([one, other]: [A, B]): [B, A] => [other, one];

/** Every folder that may have a skill, as this process finds it now, and why the agent does not have it (A15). */
export const listSkills = async (call: Call, _: null) => {
  seesAllOnly(call.caller.principal, 'the list of skills');
  const { config, library } = call.context;
  // One that is not watched is read again.
  await library?.take({ taken: false, refs: [] });
  const explained = library?.explain() ?? [];
  const commands = new Map([...eligibleSet(explained, reservedCommands(config.session.resetTriggers)).commands].map(swapped));
  return {
    skills: explained.map((one) => ({
      ...{ name: one.skill?.name ?? null, description: one.skill?.manifest.description ?? '' },
      ...{ source: one.candidate.source, folder: one.candidate.folder, status: one.status },
      ...{ reasons: one.reasons, notes: one.notes, repair: repairOf(one) },
      command: (one.skill && commands.get(one.skill)) ?? null,
    })),
  };
};
