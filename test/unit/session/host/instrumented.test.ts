import { expect, test } from 'vitest';
import { instrumented } from '../../../../services/session/host/instrumented.ts';
import { SessionMeters } from '../../../../services/session/host/meters.ts';
import { RunTraces } from '../../../../services/session/turn/run-traces.ts';
import type { ModelRequest } from '../../../../shared/domain/prompt/model-request.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Model } from '../../../../shared/ports/model.ts';

test('A11/125: a step that was stopped before it began ends at once, whatever its model does', async () => {
  const { model } = instrumented({
    clock: systemClock,
    meters: new SessionMeters(),
    traces: new RunTraces({ read: async function* () {} }),
  });
  const deaf: Model = { name: 'deaf', windowTokens: 1_000, step: () => new Promise(() => {}) };
  const reason = new Error('stopped');
  await expect(model(deaf).step({} as ModelRequest, () => {}, AbortSignal.abort(reason))).rejects.toBe(reason);
}, 500);
