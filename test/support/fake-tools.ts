import type { Tool, ToolEnd, ToolRun, Tools } from '../../shared/ports/tools.ts';

/** What a fake tool is; the rest is usual. */
export interface FakeTool
  extends Partial<
    Pick<Tool, 'idempotent' | 'readsOnly' | 'usual' | 'onceOnly' | 'timeoutMs' | 'describe' | 'faultIn' | 'spawns'>
  > {
  readonly name: string;
  readonly run?: (run: ToolRun, signal: AbortSignal) => Promise<ToolEnd>;
}

/** Tools that note each effect as `<tool> <callId>`, and what they were given. */
export interface FakeTools extends Tools {
  readonly effects: string[];
  readonly runs: ToolRun[];
}

export const fakeTools = (...given: readonly FakeTool[]): FakeTools => {
  const effects: string[] = [];
  const runs: ToolRun[] = [];
  const tools = given.map(
    (fake): Tool => ({
      description: `the tool ${fake.name}`,
      parameters: { type: 'object' },
      idempotent: true,
      usual: 'allow',
      describe: (asked) => `${fake.name} ${JSON.stringify(asked)}`,
      ...fake,
      run: async (run, signal) => {
        runs.push(run);
        const end = fake.run ? await fake.run(run, signal) : ({ outcome: 'ok', text: `${fake.name} is done` } as const);
        effects.push(`${fake.name} ${run.callId}`);
        return end;
      },
    }),
  );
  return { effects, runs, of: () => tools, problems: () => [], close: async () => {} };
};
