import { startServer, type TestServer } from '../support/nats.ts';
import { freePort } from './up.ts';

/** What went through a broker since it started. */
export interface Traffic {
  readonly inMessages: number;
  readonly outMessages: number;
  readonly inBytes: number;
  readonly outBytes: number;
  /** Messages written to streams and buckets: each waits for the disk, alone or in a batch. */
  readonly stored: number;
}

export interface CountedBroker extends TestServer {
  traffic(): Promise<Traffic>;
}

interface Streams {
  readonly account_details?: readonly { readonly stream_detail?: readonly { readonly state: { readonly last_seq: number } }[] }[];
}

/** One server that tells what goes through it. */
export const startCountedBroker = async (syncInterval: string): Promise<CountedBroker> => {
  const monitorPort = await freePort();
  const broker = await startServer({ syncInterval, configuration: `http: "127.0.0.1:${monitorPort}"` });
  const told = async <T>(page: string): Promise<T> =>
    (await (await fetch(`http://127.0.0.1:${monitorPort}/${page}`)).json()) as T;
  return {
    ...broker,
    traffic: async () => {
      const [varz, { account_details = [] }] = [
        await told<Record<string, number>>('varz'),
        await told<Streams>('jsz?streams=true'),
      ];
      const streams = account_details.flatMap(({ stream_detail = [] }) => stream_detail);
      const { in_msgs = 0, out_msgs = 0, in_bytes = 0, out_bytes = 0 } = varz;
      return {
        ...{ inMessages: in_msgs, outMessages: out_msgs, inBytes: in_bytes, outBytes: out_bytes },
        stored: streams.reduce((sum, { state }) => sum + state.last_seq, 0),
      };
    },
  };
};

/** What went through it from one moment to the next. */
export const trafficBetween = (before: Traffic, after: Traffic): Traffic => ({
  inMessages: after.inMessages - before.inMessages,
  outMessages: after.outMessages - before.outMessages,
  inBytes: after.inBytes - before.inBytes,
  outBytes: after.outBytes - before.outBytes,
  stored: after.stored - before.stored,
});
