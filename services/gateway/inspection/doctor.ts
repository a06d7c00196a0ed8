import { errorMessage } from '../../../shared/kit/errors.ts';
import * as exposure from '../../../shared/runtime/doctor/exposure.ts';
import { checked, type Finding, fail } from '../../../shared/runtime/doctor/finding.ts';
import * as system from '../../../shared/runtime/doctor/system.ts';
import { ownersOnly } from '../context/access.ts';
import type { Call } from '../operation/operation.ts';

const broker = async ({ context: { config, ports } }: Call): Promise<Finding[]> => {
  try {
    const report = await system.systemReport(ports);
    return [
      ...[system.store(report), system.queues(report), system.followers(report), system.processes(report)],
      ...[system.answers(report), system.checkpoints(config, report), system.deadLetters(report), system.openDeliveries(report)],
    ];
  } catch (error) {
    return [fail('broker', errorMessage(error), 'see the log of the broker')];
  }
};

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
