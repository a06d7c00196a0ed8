import { toolCharacters } from '../../../shared/domain/prompt/tokens.ts';
import type { CommandOf } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { ReportFacts } from '../../../shared/domain/session/report-facts.ts';
import type { Sender } from '../../../shared/domain/values/types.ts';
import { noSkills } from '../../../shared/runtime/skills/explain.ts';
import { offeredTools, type PolicySession } from '../prompt/offered-tools.ts';
import type { TurnServices } from './attempt.ts';

/** What only the host knows of a report: its files, tools and skills (D4). */

type Services = Pick<TurnServices, 'config' | 'tools' | 'skills' | 'prompts'>;

/** A report about the context, with what a model step for whoever asks would be given now; other commands as they are. */
export const withNextStep = async (
  envelope: CommandEnvelope,
  session: PolicySession,
  services: Services,
): Promise<CommandEnvelope> => {
  const { data } = envelope;
  if (data.type !== 'report' || !data.facts.kind.startsWith('context_')) return envelope;
  return { ...envelope, data: { ...data, facts: { ...data.facts, ...(await nextStep(session, data, services)) } } };
};

/** A report that nobody is named for is for nobody in particular. */
const nobody: Sender = { id: 'nobody', role: 'participant' };

const nextStep = async (
  session: PolicySession,
  { by = nobody, notice }: CommandOf<'report'>,
  { config, tools, skills, prompts }: Services,
): Promise<Pick<ReportFacts, 'parts' | 'tools' | 'skills'>> => {
  const { skills: refs, prompt, review } = session.state.machine.context;
  const scope = { key: session.key, sender: by };
  const offered = offeredTools(session, config, tools.of(scope), [{ sender: by, channel: notice.deliverTo?.channel }]);
  const known = (await skills?.take({ taken: prompt.length > 0, refs })) ?? noSkills;
  const { parts } = await prompts.read(config, offered, scope, { skills: known.section, workingMemory: review.workingMemory });
  return {
    parts: [...parts],
    tools: offered.map((tool) => ({ name: tool.name, characters: toolCharacters(tool) })),
    skills: [...known.refs],
  };
};
