import { notByLink } from '../context/access.ts';
import type { Call } from '../operation/operation.ts';

/** The metrics of the last minutes, for whoever may read those of now. */
export const readMetricHistory = ({ context, caller }: Call, _: null) => {
  notByLink(caller.principal, 'metrics');
  return context.keptMetrics.read();
};
