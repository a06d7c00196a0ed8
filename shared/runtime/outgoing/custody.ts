import type { CustodyParts } from '../../ports/custody-log.ts';

/** How custody records are read. */

/** Order of outbounds: by commit, then by event. */
export const comesAfter = (id: string, than: string): boolean => {
  const [seq = 0, index = 0] = id.split('.').map(Number);
  const [thanSeq = 0, thanIndex = 0] = than.split('.').map(Number);
  return seq === thanSeq ? index > thanIndex : seq > thanSeq;
};

/** How many parts were sent as more than a mark. */
export const sentCount = ({ done, refused = [] }: CustodyParts): number => done.length - refused.length;
