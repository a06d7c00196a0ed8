import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/** Loaded before a process's own code, it writes a profile of the whole process into the folder `BENCH_PROFILES` when it ends. */
const folder = process.env.BENCH_PROFILES;
if (folder !== undefined && isMainThread) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 500 });
  session.post('Profiler.start');
  process.once('exit', () => {
    // Called back before `post` returns.
    session.post('Profiler.stop', (error, { profile }) => {
      if (error !== null) throw error;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${process.pid}.cpuprofile`), JSON.stringify(profile));
    });
  });
}
