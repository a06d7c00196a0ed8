/** How far a reader of the log has come, by name: `delivery`, … */
export interface Cursors {
  get(name: string): Promise<number>;
  put(name: string, seq: number): Promise<void>;
}
