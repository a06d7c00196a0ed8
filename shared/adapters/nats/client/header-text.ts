import { type Msg, MsgImpl } from '@nats-io/transport-node';

/**
 * The header of a message as it came, `''` without one. The client makes a list of each name and compares each with all before it: for a stored
 * commit, which has a dozen, that is more work than to decode the commit.
 */
export const headerText = (message: Pick<Msg, 'headers'>): string => {
  if (!(message instanceof MsgImpl)) return String(message.headers ?? '');
  const { _msg, _rdata } = message;
  return _msg.hdr > 0 ? Buffer.from(_rdata.buffer, _rdata.byteOffset, _msg.hdr).toString() : '';
};

/** The last value of a header, `''` without one: the broker appends its own to the publisher's. */
export const lastHeader = (text: string, name: string): string => {
  const at = text.lastIndexOf(`\r\n${name}:`);
  if (at < 0) return '';
  const start = at + name.length + 3;
  return text.slice(start, text.indexOf('\r\n', start)).trim();
};

/** How often a header is there. */
export const countHeader = (text: string, name: string): number => text.split(`\r\n${name}:`).length - 1;
