import { createHash } from 'node:crypto';

/** The smallest PNG: one transparent pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);
/** What begins as such a file does. */
export const pdf = Buffer.from('%PDF-1.7\n% a page\n');
export const wav = Buffer.from(`RIFF\0\0\0\0WAVEfmt ${'\0'.repeat(20)}`);

export const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
export const dataUrl = (type: string, content: Buffer): string => `data:${type};base64,${content.toString('base64')}`;
