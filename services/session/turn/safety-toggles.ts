/** Safety mechanisms that tests switch off to prove that the checkers notice. All are on in any other use. */
export interface SafetyToggles {
  readonly fencing: boolean;
  readonly deduplication: boolean;
  /** Off: only the last ids are known, not the older ones (D9). */
  readonly idMemory: boolean;
  readonly stopOnUncommitted: boolean;
  /** Off: that a command changes nothing is answered from memory, though another host may have continued the session (I1). */
  readonly freshness: boolean;
  /** Off: a call that an earlier attempt started is made as if this attempt had started it (I6). */
  readonly intents: boolean;
  /** Off: that a turn waits for a program's results is known to its process alone (ADR 26). */
  readonly recordedWaits: boolean;
  /** Off: every command loads its session again. Not a safety mechanism: sessions must behave the same both ways. */
  readonly residency: boolean;
}
export const allOn: SafetyToggles = {
  fencing: true,
  deduplication: true,
  idMemory: true,
  stopOnUncommitted: true,
  freshness: true,
  intents: true,
  recordedWaits: true,
  residency: true,
};
