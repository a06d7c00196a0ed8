import { headers, MsgImpl } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { countHeader, headerText, lastHeader } from '../../../../shared/adapters/nats/client/header-text.ts';

/** A message as it came from the broker, with these bytes as its header. */
const arrived = (header: string): MsgImpl => {
  const bytes = Buffer.from(`${header}the data`);
  const argument = { subject: Buffer.from('s'), sid: 1, hdr: Buffer.byteLength(header), size: bytes.length };
  return new MsgImpl(argument, bytes, { publish: () => {} });
};

const lines = (...fields: string[]): string => ['NATS/1.0', ...fields, '', ''].join('\r\n');

test('the last value of a header counts, as the client reads it too', () => {
  const message = arrived(lines('Nats-Sequence: 1', 'ce-id:ü ', 'X-Nats-Subject: no', 'Nats-Subject: a b', 'Nats-Sequence: 17'));
  const text = headerText(message);
  for (const name of ['Nats-Sequence', 'ce-id', 'Nats-Subject', 'nats-subject', 'Nats-Time-Stamp'])
    expect(lastHeader(text, name), name).toBe(message.headers?.last(name));
  expect(countHeader(text, 'Nats-Sequence')).toBe(2);
  expect(countHeader(text, 'Nats-Stream')).toBe(0);
});

test('what the data says is no header', () => {
  const message = new MsgImpl(
    { subject: Buffer.from('s'), sid: 1, hdr: -1, size: 0 },
    Buffer.from('NATS/1.0\r\nNats-Sequence: 1\r\n\r\n'),
    { publish: () => {} },
  );
  expect(headerText(message)).toBe('');
  expect(headerText(arrived(lines('a: b')))).toBe(lines('a: b'));
});

test('a header of any other message is read in the same way', () => {
  const header = headers();
  header.append('Nats-Stream', 'one');
  header.append('Nats-Stream', 'two');
  const text = headerText({ headers: header });
  expect([lastHeader(text, 'Nats-Stream'), countHeader(text, 'Nats-Stream')]).toEqual(['two', 2]);
  expect(headerText({ headers: undefined })).toBe('');
});
