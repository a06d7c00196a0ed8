/**
 * Rendezvous hashing: every process derives the same owner and standby of a partition from the set of members alone. When a
 * member joins or leaves, only its own partitions move. Pure.
 */
export interface Placement {
  /** `null` when there are no members. */
  readonly owner: string | null;
  /** Takes over when the owner is silent; `null` with a single member. */
  readonly standby: string | null;
}

/** The two members with the greatest weights for this partition. The order of `members` does not matter. */
export const placementOf = (members: Iterable<string>, partition: number): Placement => {
  let owner: string | null = null;
  let standby: string | null = null;
  for (const member of members) {
    if (owner === null || outweighs(member, owner, partition)) [owner, standby] = [member, owner];
    else if (standby === null || outweighs(member, standby, partition)) standby = member;
  }
  return { owner, standby };
};

/** Equal weights are decided by name, so that all processes agree. */
const outweighs = (left: string, right: string, partition: number): boolean => {
  const difference = weightOf(left, partition) - weightOf(right, partition);
  return difference === 0 ? left > right : difference > 0;
};

/** FNV-1a 32 with the finaliser of MurmurHash3: without it neighbouring partitions would mostly get the same owner. */
const weightOf = (member: string, partition: number): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${member}\0${partition}`, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};
