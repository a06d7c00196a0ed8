import { defineConfig } from 'vitest/config';

// Suites are chosen by folder; the chaos and bench folders have their own npm scripts and are not part of the gate.
export default defineConfig({
  test: {
    include: ['test/{unit,property,contract,sim,e2e,tidy}/**/*.test.ts', 'test/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    setupFiles: ['test/support/patience.ts'],
    expect: { poll: { timeout: 10_000 } },
    maxWorkers: 2,
    // What a terminal shows is compared as text, wherever the tests run.
    env: { NO_COLOR: '1' },
  },
});
