/** The sequences that readers of the log have processed, by reader name: `delivery`, …  */
export interface Cursors {
  get(name: string): Promise<number>;
  put(name: string, seq: number): Promise<void>;
}
