import type { McpServer } from '@modelcontextprotocol/server';
import {
  type Skill as OfferedSkill,
  type SkillSource,
  SkillsExtension,
  skillEntry,
} from '@modelcontextprotocol/server/ext/skills';
import { LRUCache } from 'lru-cache';
import type { Skill } from '../../../shared/domain/skills/skill.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Entries } from '../../../shared/runtime/skills/environment.ts';
import type { SkillLibrary } from '../../../shared/runtime/skills/library.ts';
import { filesOf, unchangedFiles } from '../../../shared/runtime/skills/pin.ts';

/** What a server for one message attaches to. */
export interface OfferedSkills {
  attach(server: McpServer): void;
}
/** Skills of one answer. */
const pageSkills = 50;

/**
 * The skills in the agent's prompt, for the owner's MCP clients, by the protocol's extension for skills (SEP-2640). Read only: no skill runs
 * here. What the protocol does not accept is left out: names that are not AgentSkills names, and metadata that is not a map of texts.
 */
export const offeredSkills = (library: Pick<SkillLibrary, 'take'>, entries: Entries, log: Logger): OfferedSkills => {
  const offered = new LRUCache<string, OfferedSkill>({ max: limits.sessionSkills });
  const told = async (): Promise<readonly Skill[]> => {
    const { skills } = await library.take({ taken: false, refs: [] });
    return skills.filter(({ manifest }) => manifest.modelInvocable);
  };
  const entryOf = async (skill: Skill): Promise<OfferedSkill | undefined> => {
    const known = offered.get(skill.digest);
    if (known) return known;
    try {
      const entry = await skillEntry(skill.name, Object.fromEntries(unchangedFiles(skill)));
      offered.set(skill.digest, entry);
      return entry;
    } catch (error) {
      log.debug({ folder: skill.folder, reason: errorMessage(error) }, 'a skill is not offered to MCP clients');
      return undefined;
    }
  };
  const source: SkillSource = {
    list: async ({ cursor = '0' }) => {
      const all = await told();
      const from = Math.max(0, Number.parseInt(cursor, 10) || 0);
      const page = await Promise.all(all.slice(from, from + pageSkills).map(entryOf));
      const more = from + pageSkills < all.length;
      return { skills: page.filter((entry) => entry !== undefined), ...(more && { nextCursor: String(from + pageSkills) }) };
    },
    get: async (uri) => {
      const skill = (await told()).find(({ name }) => uri === `${base}${name}/SKILL.md`);
      return skill && entryOf(skill);
    },
    read: async (uri) => {
      const skill = (await told()).find(({ name }) => uri.startsWith(`${base}${name}/`));
      const bytes = skill && filesOf(skill, entries).get(decodeURIComponent(uri.slice(base.length + skill.name.length + 1)));
      return bytes && contentOf(bytes);
    },
  };
  return new SkillsExtension({
    source,
    onWarning: ({ path, message }) => log.debug({ path, reason: message }, 'a skill of MCP'),
  });
};

const base = 'skill://';

const contentOf = (bytes: Uint8Array) => {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { bytes };
  }
};
