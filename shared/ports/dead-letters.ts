export interface DeadLetter {
  readonly id: string;
  readonly service: string;
  readonly reason: string;
  readonly subject: string;
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface DeadLetters {
  put(letter: DeadLetter): Promise<void>;
  list(limit: number): Promise<DeadLetter[]>;
  count(): Promise<number>;
}
