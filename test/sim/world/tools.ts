import type { Tool, ToolRun, Tools } from '../../../shared/ports/tools.ts';
import type { Process } from './process.ts';
import type { Recorder } from './recorder.ts';

/** What may be said of a tool that its effect must keep to. */
interface Nature {
  readonly idempotent: boolean;
  readonly readsOnly?: true;
  readonly usual: 'allow' | 'ask';
}
/** The tools of the sessions in a run: each call is one effect in the world outside. */
export const natures: Readonly<Record<string, Nature>> = {
  charge: { idempotent: false, usual: 'allow' },
  pay: { idempotent: false, usual: 'ask' },
  store: { idempotent: true, usual: 'allow' },
  look: { idempotent: true, readsOnly: true, usual: 'allow' },
  /** Takes its host down. */
  poison: { idempotent: true, usual: 'allow' },
};

/** The tools as one process has them. A process that stands still makes its call when it goes on; a dead one never does. */
export const toolsOf = (
  process: Process,
  { sleep, recorder, die }: { sleep(ms: number): Promise<void>; readonly recorder: Recorder; die(): void },
): Tools => {
  const run = async (name: string, { callId, arguments: given, scope }: ToolRun) => {
    await sleep(5);
    recorder.effect({ host: process.name, key: scope.key, turn: scope.turn, callId, tool: name, arguments: given });
    if (name === 'poison') die();
    await sleep(typeof given === 'object' && given !== null && 'takes' in given ? Number(given.takes) : 0);
    return { outcome: 'ok', text: `done ${callId}` } as const;
  };
  const tools = Object.entries(natures).map(
    ([name, nature]): Tool => ({
      ...{ name, ...nature, description: `the tool ${name}`, parameters: { type: 'object' } },
      describe: (given) => `${name} ${JSON.stringify(given)}`,
      run: (call) => run(name, call),
    }),
  );
  return { of: () => tools, problems: () => [], close: async () => {} };
};
