import type { ChangeKind } from '../../../shared/domain/access/access.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from './gateway-context.ts';

/**
 * Fails a call at once that the broker cannot serve now, instead of letting calls pile up until they time out. What only reads is
 * served as long as it can be. Throws `NatterError('unavailable')` with the problem.
 */
export const checkServed = ({ ports }: Pick<GatewayContext, 'ports'>, change: ChangeKind): void => {
  const call = { changes: change !== 'nothing' };
  const problem = ports.problems().find((each) => each.stops(call));
  if (problem !== undefined) throw new NatterError('unavailable', problem.message, { problem });
};
