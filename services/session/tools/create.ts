import type { Config } from '../../../shared/domain/config/schema.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { ToolSource } from '../../../shared/ports/tool-source.ts';
import type { Tool, Tools } from '../../../shared/ports/tools.ts';
import { matchesPattern } from './tool-policy.ts';

/** A tool name that every provider accepts. */
const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * All tools of a host: those of the sources, except those that `tools.disabled` matches. They are sorted by name, so that the
 * same tools make the same prompt. Of two with the same name, the earlier source's is kept. A tool that is left out without being
 * disabled is reported as a problem.
 */
export const createTools = (sources: readonly ToolSource[], { tools: { disabled } }: Pick<Config, 'tools'>): Tools => {
  /** Found by the last call of `of`, so that a fixed problem disappears. */
  let problems = new Set<string>();
  const isDisabled = ({ name }: Tool) => disabled.some((pattern) => matchesPattern(pattern, name));

  return {
    of: (scope) => {
      const offered = new Map<string, Tool>();
      const found = new Set<string>();
      for (const tool of sources.flatMap((source) => source.of(scope))) {
        if (isDisabled(tool)) continue;
        const problem = refusalOf(tool, offered);
        if (problem === null) offered.set(tool.name, tool);
        else if (found.size < limits.offeredTools) found.add(problem);
      }
      problems = found;
      return [...offered.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    problems: () => [...sources.flatMap((source) => source.problems()), ...problems],
    close: async () => {
      await Promise.allSettled(sources.map((source) => source.close()));
    },
  };
};

const refusalOf = ({ name }: Tool, offered: ReadonlyMap<string, Tool>): string | null => {
  if (!namePattern.test(name)) return `the tool ${JSON.stringify(name.slice(0, 64))} is left out: no provider takes this name`;
  if (offered.has(name)) return `a second tool "${name}" is left out: disable or rename one of them`;
  if (offered.size >= limits.offeredTools) return `the tool "${name}" is left out: there are more than ${limits.offeredTools}`;
  return null;
};
