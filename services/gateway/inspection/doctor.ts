import * as exposure from '../../../shared/runtime/doctor/exposure.ts';
import { checked, type Finding } from '../../../shared/runtime/doctor/finding.ts';
import * as system from '../../../shared/runtime/doctor/system.ts';
import { ownersOnly } from '../context/access.ts';
import type { Call } from '../operation/operation.ts';

const broker = (call: Call): Promise<Finding[]> =>
  system.systemReport(call.context.ports).then(
    (report) => [
      ...[system.store(report), system.queues(report), system.followers(report), system.processes(report)],
      ...[system.checkpoints(call.context.config, report), system.deadLetters(report), system.openDeliveries(report)],
    ],
    async (error: unknown) => [
      await checked('broker', 'see the log of the broker', () => {
        throw error;
      }),
    ],
  );

/** The checks of `natter doctor` that this process can make, in its words and its order. Only what needs the machine or the broker's provisioner is left out. */
export const findProblems = async (call: Call, _: null) => {
  ownersOnly(call.caller.principal, 'what the doctor finds');
  const { config, callers, ports } = call.context;
  const findings = [
    ...[exposure.configuredValues(config), exposure.directMessages(config), exposure.owner(config), exposure.bindAddress(config)],
    ...(await broker(call)),
    await checked('tokens', 'see the log of the gateway', () =>
      exposure.tokens(config, [...callers.issued.all()], ports.clock.now()),
    ),
  ];
  return { ok: findings.every(({ level }) => level !== 'fail'), findings };
};
