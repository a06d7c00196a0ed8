/** Bounds of what is sent, and of its parts (D12, I11); a part of `limits`. */
export const outgoingLimits = {
  /** Outbounds taken from the log that are in hand and not in a final state yet. */
  deliveryWindow: 2_000,
  /** Parts of one message; what is left is not sent, and a mark says so. */
  deliveryParts: 100,
  /** Characters of a part at most, whatever a platform takes. */
  partCharacters: 40_000,
  /** Characters of an outgoing message that are read as Markdown: it is cut as plain text behind them. */
  markdownCharacters: 64_000,
  /** Characters of a platform's id of a message, and of the opening line of a code fence that is opened again in the next part. */
  platformIdCharacters: 256,
  fenceCharacters: 64,
} as const;
