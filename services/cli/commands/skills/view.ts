import pc from 'picocolors';
import type { InstallSpec } from '../../../../shared/domain/skills/manifest.ts';
import { estimatedTokens } from '../../../../shared/kit/token-estimate.ts';
import type { Explanation } from '../../../../shared/runtime/skills/explain.ts';
import { charactersOf } from '../../../../shared/runtime/skills/prompt.ts';
import { specId } from '../../skills-install/plan.ts';
import { oneLine, table } from '../../terminal.ts';
import { installedAs, isKnown, type KnownSkill } from './known.ts';

/** A folder that may be a skill, as JSON. */
export const skillJson = (explanation: Explanation, all: readonly Explanation[]) => {
  const { candidate, status, reasons, notes, node } = explanation;
  return {
    ...{ name: explanation.skill?.name ?? null, source: candidate.source, plugin: candidate.plugin, folder: candidate.folder },
    ...{ status, reasons, notes, node },
    ...(isKnown(explanation) && detailsOf(explanation, all)),
  };
};

/** Everything about a skill; of variables and keys only the names, never the values. */
const detailsOf = (explanation: KnownSkill, all: readonly Explanation[]) => {
  const { candidate, skill, node } = explanation;
  const { manifest, name, location, digest } = skill;
  const { commandTool, install, modelInvocable, primaryEnv, requires, userInvocable } = manifest;
  const characters = charactersOf({ skill, node });
  const shadowed = all.filter((other) => other.candidate.shadowedBy?.folder === skill.folder);
  return {
    ...{ name, description: manifest.description, homepage: manifest.homepage, emoji: manifest.emoji },
    ...{ location, digest, installed: installedAs(skill), always: manifest.always, os: manifest.os },
    ...{ requires, primaryEnv, userInvocable, modelInvocable, commandTool },
    install: install.map((spec, index) => ({ ...spec, id: specId(spec, index) })),
    prompt: { characters, tokens: estimatedTokens(characters) },
    shadowedBy: candidate.shadowedBy?.folder,
    shadows: shadowed.map((other) => other.candidate.folder),
  };
};

const colours = { eligible: pc.green, ineligible: pc.yellow, shadowed: pc.dim, unusable: pc.red } as const;
const nameOf = ({ skill, candidate }: Explanation): string => oneLine(skill?.name ?? candidate.folder, 60);

/** One line for each skill. */
export const listLines = (explained: readonly Explanation[]): string[] =>
  table(
    ['NAME', 'FROM', 'STATUS', 'DESCRIPTION'],
    explained.map((one) => [
      ...[nameOf(one), one.candidate.source, one.status],
      oneLine(one.skill?.manifest.description ?? one.reasons.join(' '), 70),
    ]),
  );

/** Each skill with its notes and the reasons why it is not eligible. */
export const checkLines = (explained: readonly Explanation[]): string[] =>
  explained.flatMap((one) => {
    const changed = one.skill && installedAs(one.skill)?.isChanged ? ['Changed since it was installed from the registry.'] : [];
    return [
      `${colours[one.status](one.status.padEnd(10))}  ${pc.bold(nameOf(one))}  ${pc.dim(oneLine(one.candidate.folder, 400))}`,
      ...[...one.reasons, ...one.notes, ...changed].map((text) => `            ${oneLine(text, 400)}`),
    ];
  });

/** Everything about one skill. */
export const infoLines = (explanation: KnownSkill, all: readonly Explanation[]): string[] => {
  const { skill, status, reasons, notes, node } = explanation;
  const { manifest } = skill;
  const { requires } = manifest;
  const { installed, prompt, shadowedBy, shadows } = detailsOf(explanation, all);
  const rows: (readonly [string, string])[] = [
    ['status', [status, ...reasons, ...notes].join(' ')],
    ['from', [skill.source, skill.plugin ?? ''].join(' ').trim()],
    ['folder', skill.folder],
    ['file', skill.location],
    ['digest', skill.digest],
    ['registry', installed ? `version ${installed.version}${installed.isChanged ? ', changed since' : ''}` : ''],
    ['node', node ?? ''],
    ['shadowed by', shadowedBy ?? ''],
    ['shadows', shadows.join(', ')],
    ['homepage', manifest.homepage ?? ''],
    ['always', manifest.always ? 'yes' : ''],
    ['systems', manifest.os.join(', ')],
    ['programs', requires.bins.join(', ')],
    ['one of', requires.anyBins.join(', ')],
    ['variables', requires.env.join(', ')],
    ['key', manifest.primaryEnv ?? ''],
    ['configuration', requires.config.join(', ')],
    ['command', manifest.userInvocable ? (manifest.commandTool ? `calls the tool ${manifest.commandTool}` : 'yes') : 'no'],
    ['prompt', prompt.characters > 0 ? `${prompt.characters} characters, about ${prompt.tokens} tokens` : 'not in the prompt'],
  ];
  return [
    `${pc.bold(oneLine(skill.name, 64))}  ${oneLine(manifest.description, 400)}`,
    ...rows.filter(([, value]) => value !== '').map(([name, value]) => `${pc.dim(name.padEnd(14))}${oneLine(value, 1_000)}`),
    ...manifest.install.map(
      (spec, index) => `${pc.dim('install'.padEnd(14))}${oneLine(`${specId(spec, index)}: ${specText(spec)}`, 400)}`,
    ),
  ];
};

const specText = ({ kind, label, formula, package: name, module, url, os, bins }: InstallSpec): string =>
  [
    [kind, formula ?? name ?? module ?? url].join(' '),
    label === undefined ? '' : `"${label}"`,
    bins.length === 0 ? '' : `provides ${bins.join(', ')}`,
    os.length === 0 ? '' : `for ${os.join(', ')}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
