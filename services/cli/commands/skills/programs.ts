import pc from 'picocolors';
import type { Skill } from '../../../../shared/domain/skills/skill.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { isWithin } from '../../../../shared/runtime/skills/folder.ts';
import { toolPlaces, withTools } from '../../../../shared/runtime/skills/places.ts';
import type { CommonOptions } from '../../access.ts';
import { isConfirmed } from '../../confirm.ts';
import { chooseSpecs, type Machine, usableSpecs } from '../../skills-install/choose.ts';
import { type InstallPlan, planOf, specId } from '../../skills-install/plan.ts';
import { runPlan } from '../../skills-install/run.ts';
import { oneLine, type World } from '../../terminal.ts';
import { mustHave, readSkills } from './known.ts';

export interface ProgramOptions extends CommonOptions {
  readonly yes?: boolean;
  /** Id of the one install spec to use. */
  readonly spec?: string;
}

/** Installs the programs of a local skill, after showing what will run and asking (A15/169–171). */
export const installPrograms = async (world: World, name: string, options: ProgramOptions): Promise<void> => {
  const { terminal } = world;
  const { config, facts, explained } = await readSkills(world, options);
  const { skill } = mustHave(explained, name);
  const { nodeManager } = config.skills.install;
  const places = toolPlaces(config.dataDir);
  const machine = { os: facts.os, hasProgram: facts.hasProgram, nodeManager };
  const plans = specsOf(skill, machine, options.spec).map(({ spec, index }) =>
    planOf(spec, index, { skill, nodeManager, places }),
  );
  refuseOverlap(plans);
  if (plans.length === 0) return terminal.note(nothingFor(skill, machine));
  for (const line of plans.flatMap(planLines)) terminal.out(line);
  terminal.note(pc.yellow(`${shown(skill.name)} comes from ${shown(skill.folder)}: it installs software by third parties`));
  if (!options.yes && !(await isConfirmed(world, 'Run this?', 'install'))) return terminal.note('nothing was installed');
  const run = {
    places,
    env: withTools(world.env, config.dataDir),
    clock: systemClock,
    signal: world.interrupted,
    progress: terminal.progress,
  };
  for (const plan of plans) {
    terminal.note(`${shown(plan.id)} ...`);
    await runPlan(plan, run).finally(() => terminal.settled());
    terminal.out(`${pc.green('installed')}  ${shown(plan.id)}`);
  }
  await showStatus(world, options, name);
};

const specsOf = (skill: Skill, machine: Machine, id: string | undefined) => {
  if (id === undefined) return chooseSpecs(skill, machine);
  const wanted = skill.manifest.install.findIndex((spec, index) => specId(spec, index) === id);
  const found = usableSpecs(skill, machine).filter(({ index }) => index === wanted);
  if (found.length > 0) return found;
  const ids = skill.manifest.install.map(specId).join(', ') || 'none';
  const why = wanted === -1 ? `has no such install spec; it has ${ids}` : 'cannot use it on this machine';
  throw new NatterError('invalid', `--spec ${oneLine(id, 64)}: ${skill.name} ${oneLine(why, 400)}`, { field: 'spec' });
};

/** Refuses two downloads into one folder: the second would remove the first. */
const refuseOverlap = (plans: readonly InstallPlan[]): void => {
  const targets = plans.flatMap((plan) => (plan.kind === 'download' ? [plan.target] : []));
  const both = targets.find((target, index) => targets.some((other, at) => at !== index && isWithin(target, other)));
  if (both !== undefined) throw new NatterError('invalid', `--spec: two downloads of the skill go to ${both}; choose one`);
};

const nothingFor = ({ name, manifest }: Skill, machine: Machine): string => {
  const { bins, anyBins } = manifest.requires;
  const isThere = bins.every(machine.hasProgram) && (anyBins.length === 0 || anyBins.some(machine.hasProgram));
  if (isThere) return `${shown(name)}: nothing is missing; to install anyway, use --spec`;
  return `${shown(name)}: none of its ${manifest.install.length} install specs works on this machine; install its programs by hand`;
};

/** Text of a skill on one line, so that it cannot look like our output. */
const shown = (text: string): string => oneLine(text, 1_000);

/** Exactly what the plan will do. */
const planLines = (plan: InstallPlan): string[] => {
  const details = [plan.label ?? '', plan.bins.length > 0 ? `provides ${plan.bins.join(', ')}` : ''];
  const head = [pc.bold(shown(plan.id)), ...details.filter((part) => part !== '').map(shown)].join('  ');
  if (plan.kind !== 'download') {
    const variables = Object.entries(plan.env).map(([name, value]) => `${name}=${value}`);
    return [head, `  runs    ${JSON.stringify(plan.command)}`, ...variables.map((text) => `  with    ${text}`)];
  }
  return [
    head,
    `  fetches ${shown(plan.url.href)}`,
    `  SHA-256 ${plan.sha256 ?? pc.yellow('none given by the skill: the download is not verified')}`,
    `  ${plan.archive === null ? `saves it as ${shown(plan.file)} in` : `unpacks it (${plan.archive}) to`} ${shown(plan.target)}`,
  ];
};

/** Whether the skill is eligible now, and if not, why. */
const showStatus = async (world: World, common: CommonOptions, name: string): Promise<void> => {
  const { explained } = await readSkills(world, common);
  const { status, reasons, skill } = mustHave(explained, name);
  if (status === 'eligible') return world.terminal.out(`${shown(skill.name)} is eligible`);
  world.terminal.out(`${shown(skill.name)} is not eligible yet:`);
  for (const reason of reasons) world.terminal.out(`  ${oneLine(reason, 400)}`);
};
