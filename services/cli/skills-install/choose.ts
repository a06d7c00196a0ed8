import type { InstallSpec } from '../../../shared/domain/skills/manifest.ts';
import type { Skill } from '../../../shared/domain/skills/skill.ts';
import type { NodeManager } from './plan.ts';

/** The machine that programs are installed on. */
export interface Machine {
  readonly os: string;
  hasProgram(name: string): boolean;
  readonly nodeManager: NodeManager;
}
/** A spec and its index in the skill's list. */
export interface NumberedSpec {
  readonly spec: InstallSpec;
  readonly index: number;
}

/** Preference among several ways to install: the first kind in this list whose manager is installed. */
const order = ['brew', 'uv', 'node', 'go', 'download'] as const;

/** The skill's specs that work on this machine, best first. */
export const usableSpecs = ({ manifest: { install } }: Skill, { os, hasProgram, nodeManager }: Machine): NumberedSpec[] => {
  const managers = { brew: 'brew', uv: 'uv', node: nodeManager, go: 'go', download: null } as const;
  const isUsable = ({ spec }: NumberedSpec): boolean => {
    const manager = managers[spec.kind];
    return (spec.os.length === 0 || spec.os.includes(os)) && (manager === null || hasProgram(manager));
  };
  const rank = ({ spec }: NumberedSpec): number => order.indexOf(spec.kind);
  return install
    .map((spec, index) => ({ spec, index }))
    .filter(isUsable)
    .sort((one, other) => rank(one) - rank(other));
};

/**
 * The specs to follow: for each missing program, the best one that claims to install it. If all usable specs are downloads, all
 * are followed, because they may bring something other than programs (A15/170).
 */
export const chooseSpecs = (skill: Skill, machine: Machine): NumberedSpec[] => {
  const usable = usableSpecs(skill, machine);
  if (usable.every(({ spec }) => spec.kind === 'download')) return usable;
  const { bins, anyBins } = skill.manifest.requires;
  const isMissing = (bin: string): boolean => !machine.hasProgram(bin);
  const wishes = [...bins.filter(isMissing).map((bin) => [bin]), ...(anyBins.every(isMissing) ? [anyBins] : [])];
  const chosen = new Set<NumberedSpec>();
  for (const wish of wishes.filter((names) => names.length > 0)) {
    const brings = ({ spec }: NumberedSpec): boolean => spec.bins.length === 0 || spec.bins.some((bin) => wish.includes(bin));
    const found = [...chosen, ...usable].find(brings);
    if (found) chosen.add(found);
  }
  return [...chosen];
};
