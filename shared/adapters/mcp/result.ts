import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { oneLine } from '../../kit/one-line.ts';
import type { ToolEnd } from '../../ports/tools.ts';

/** A call's result as text for the model. Content other than text is replaced by a note with its type and size. */
export const endOf = ({ content, structuredContent, isError }: CallToolResult): ToolEnd => {
  const text = content.map(textOf).join('\n');
  const said = text !== '' || structuredContent === undefined ? text : JSON.stringify(structuredContent);
  return { outcome: isError === true ? 'error' : 'ok', text: said.toWellFormed() };
};

const textOf = (block: ContentBlock): string => {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : note('resource', block.resource, block.resource.blob);
    case 'resource_link':
      return `[link to ${oneLine(block.uri)}: ${oneLine(block.title ?? block.name)}]`;
    case 'image':
    case 'audio':
      return note(block.type, block, block.data);
  }
};

const note = (what: string, { mimeType, uri }: { mimeType?: string | undefined; uri?: string }, base64: string): string => {
  const bytes = Buffer.byteLength(base64, 'base64');
  return `[${what}${uri === undefined ? '' : ` ${oneLine(uri)}`}, ${oneLine(mimeType ?? 'of unknown type', 80)}, ${bytes} bytes: not shown]`;
};
