import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listener } from '../../support/listener.ts';
import { afterwards } from '../gateway/setup.ts';

type Value = {
  stringValue?: string;
  intValue?: number;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
};
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message?: string };
}
/** A span as a collector gets it, its attributes as plain values. */
export interface Span extends Omit<OtlpSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
}
export const spanKinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
export const failed = 2;

const plain = (value: Value): unknown =>
  value.arrayValue
    ? value.arrayValue.values.map(plain)
    : (value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue);
const plainAll = (attributes: OtlpSpan['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));

/** A tree of names: what a test says of a trace at a glance. Brothers in the order of their names. */
export type Tree = { readonly [name: string]: Tree };

/** An OTLP/HTTP collector. `answer` decides what it does with a batch; default: it takes it. It ends with the test, unless it `stays`. */
export const startCollector = async (
  answer: (response: ServerResponse) => void = (response) => response.end('{}'),
  { stays = false } = {},
) => {
  const spans: Span[] = [];
  const bodies: string[] = [];
  const server = createServer(
    listener(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      bodies.push(body);
      for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
        const from = plainAll(resource.attributes);
        for (const { spans: sent } of scopeSpans)
          spans.push(...sent.map((span: OtlpSpan) => ({ ...span, attributes: plainAll(span.attributes), resource: from })));
      }
      response.setHeader('content-type', 'application/json');
      answer(response);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  if (!stays) afterwards(close);

  const treeUnder = (trace: readonly Span[], parent: string | undefined): Tree => {
    const children = trace.filter(({ parentSpanId }) => (parentSpanId ?? '') === (parent ?? ''));
    return Object.fromEntries(
      children
        .map((span) => [span.name, treeUnder(trace, span.spanId)] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    close,
    named: (name: string): Span[] => spans.filter((span) => span.name === name),
    traceOf: ({ traceId }: Pick<Span, 'traceId'>): Span[] => spans.filter((span) => span.traceId === traceId),
    /** The names of a trace's spans, each under the one that led to it; equal ones under one parent are one. */
    treeOf: (trace: readonly Span[]): Tree => treeUnder(trace, undefined),
  };
};
export type Collector = Awaited<ReturnType<typeof startCollector>>;
