import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { Progress } from './test/support/gate/progress.ts';
import { heavy, LongestFirst, mocking } from './test/support/gate/suites.ts';
import { runsFactor } from './test/support/runs.ts';

/**
 * Suites are chosen by folder; the chaos and bench folders have their own npm scripts and are not part of the gate. Files of a project share
 * processes, as loading the product costs more than most files do. So what a file starts or changes ends with its tests.
 */
const project = (name: string, test: TestProjectInlineConfiguration['test'] & object): TestProjectInlineConfiguration => ({
  test: {
    name,
    pool: 'forks',
    isolate: false,
    exclude: mocking,
    setupFiles: ['test/support/gate/patience.ts', ...(runsFactor > 1 ? ['test/support/gate/long.ts'] : [])],
    testTimeout: 90_000 * runsFactor,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
    unstubEnvs: true,
    unstubGlobals: true,
    // What a terminal shows is compared as text, wherever the tests run. Hundreds of hosts start here, and no test measures a first turn.
    env: { NO_COLOR: '1', NATTER_WARM_UP: 'off' },
    ...test,
  },
});

export default defineConfig({
  test: {
    reporters: [new Progress()],
    sequence: { sequencer: LongestFirst },
    projects: [
      // These compute; some wait now and then, so one more than there are cores. Those of the next line begin first, and these follow.
      project('unit', {
        include: ['test/{unit,property,sim,tidy}/**/*.test.ts'],
        maxWorkers: 3,
        sequence: { groupOrder: 0 },
      }),
      // So do the processes that these start, and they wait for each other: so that no core is left alone with the last of them, the files above
      // go on meanwhile.
      project('processes', {
        include: heavy,
        globalSetup: ['test/support/gate/build.ts'],
        maxWorkers: 3,
        sequence: { groupOrder: 0 },
      }),
      // These wait most of the time, for brokers and clocks.
      project('system', {
        include: ['test/{contract,e2e}/**/*.test.ts'],
        exclude: [...mocking, ...heavy],
        globalSetup: ['test/support/gate/build.ts'],
        maxWorkers: 6,
        sequence: { groupOrder: 1 },
      }),
      project('mocks', { include: mocking, exclude: [], isolate: true, maxWorkers: 6, sequence: { groupOrder: 1 } }),
    ],
  },
});
