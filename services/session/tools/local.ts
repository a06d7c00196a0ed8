import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { ToolSource } from '../../../shared/ports/tool-source.ts';
import type { Tool } from '../../../shared/ports/tools.ts';
import { withTools } from '../../../shared/runtime/skills/places.ts';
import { execTool } from './exec.ts';
import { fileTools } from './files.ts';
import { readOutputTool } from './read-output.ts';
import { webFetchTool } from './web-fetch.ts';

export interface LocalToolsOptions {
  readonly config: Pick<Config, 'agent' | 'tools' | 'dataDir' | 'skills'>;
  /** The process's environment, for the variables that programs may get. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly events: EventLog;
  readonly clock: Clock;
}

/**
 * The tools of this process: files, programs, the web and long outputs. Creates a writable workspace that does not exist. Throws
 * `invalid` for a wrong configuration.
 */
export const localTools = ({ config, env, events, clock }: LocalToolsOptions): ToolSource => {
  const { workspace, workspaceAccess } = config.agent;
  const { exec, web } = config.tools;
  if (workspace !== undefined && workspaceAccess === 'read-write') make(workspace);
  if (workspace !== undefined && config.dataDir !== undefined) keepOut(config.dataDir, workspace);
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  /** Aborts the tool's calls when the source closes. */
  const untilClosed = (tool: Tool): Tool => ({
    ...tool,
    run: async (run, signal) => {
      const end = tool.run(run, AbortSignal.any([signal, closing.signal]));
      running.add(end);
      return end.finally(() => running.delete(end));
    },
  });
  const tools = [
    ...(workspace === undefined ? [] : fileTools(workspace, workspaceAccess, config.skills.entries)),
    ...(exec.enabled
      ? [execTool({ exec, workspace, env: withTools(env, config.dataDir), clock, skills: config.skills.entries })]
      : []),
    ...(web.hosts.length > 0 ? [webFetchTool(web.hosts)] : []),
    readOutputTool(events),
  ].map(untilClosed);

  return {
    of: () => tools,
    problems: () => (workspace === undefined || isFolder(workspace) ? [] : [missing(workspace)]),
    close: async () => {
      closing.abort(new Error('the tools are closed'));
      await Promise.allSettled(running);
    },
  };
};

const isFolder = (path: string): boolean => existsSync(`${path}/.`);
/** A folder that cannot be created is reported by `problems`. */
const make = (path: string): void => {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch {}
};
/** The workspace must not contain the data folder, because tools could read the installation's tokens there (I12). */
const keepOut = (dataDir: string, workspace: string): void => {
  const [first] = relative(realOf(workspace), realOf(dataDir)).split(sep);
  if (first === '..') return;
  const message = `agent.workspace: ${JSON.stringify(workspace)} has the data folder in it, with tokens; use a folder of its own`;
  throw new NatterError('invalid', message, { field: 'agent.workspace' });
};
const realOf = (path: string): string => (isFolder(path) ? realpathSync.native(path) : path);
const missing = (path: string): string =>
  `agent.workspace: there is no folder ${JSON.stringify(path)}; make it, or correct the path`;
