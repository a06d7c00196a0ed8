import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node';

/** How often a log that is no terminal gets a line. */
const everyMs = 10_000;
const slowest = 10;

/**
 * Vitest's own report, with less about what passed: how many files are done, how long it has taken so far and what runs now, and at the end the
 * slowest files. On a terminal Vitest shows the progress itself. Failures are told in full.
 */
export class Progress extends DefaultReporter {
  readonly #running = new Set<string>();
  #files = 0;
  #done = 0;
  #failed = 0;
  #timer: NodeJS.Timeout | undefined;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    [this.#files, this.#done, this.#failed] = [specifications.length, 0, 0];
    if (!this.isTTY) this.#timer = setInterval(() => this.#tell(), everyMs).unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(module.relativeModuleId);
  }

  override onTestRunEnd(...args: Parameters<DefaultReporter['onTestRunEnd']>): void {
    clearInterval(this.#timer);
    if (!this.isTTY) this.#tell();
    super.onTestRunEnd(...args);
  }

  protected override printTestModule(module: TestModule): void {
    this.#running.delete(module.relativeModuleId);
    this.#done += 1;
    if (module.ok()) return;
    this.#failed += 1;
    super.printTestModule(module);
  }

  #tell(): void {
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    const now = this.#running.size === 0 ? '' : `; now ${[...this.#running].join(', ')}`;
    this.log(`  ${this.#done} of ${this.#files} files, ${elapsed(performance.now() - this.start)}${failed}${now}`);
  }

  override reportTestSummary(...args: Parameters<DefaultReporter['reportTestSummary']>): void {
    const [files] = args;
    const times = files.map(({ name, result, collectDuration = 0 }) => ({ name, ms: collectDuration + (result?.duration ?? 0) }));
    times.sort((one, other) => other.ms - one.ms);
    if (times.length > slowest) {
      this.log('\n  the slowest files:');
      for (const { name, ms } of times.slice(0, slowest)) this.log(`  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${name}`);
    }
    super.reportTestSummary(...args);
  }
}

const elapsed = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
};
