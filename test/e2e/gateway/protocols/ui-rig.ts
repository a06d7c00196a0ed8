import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChatInit,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai';
import { expect } from 'vitest';
import { Chat } from '../../../support/docs/chat.ts';
import { startWhole } from '../../system/whole.ts';
import { type Name, secretOf } from '../access/access-rig.ts';
import { afterwards } from '../setup.ts';

/** All services, and a workspace that is written to if somebody says so (`rules`), or at once. */
export const startTools = async (given: { rules?: object[]; gateways?: number } = {}) => {
  const { rules = [{ tool: 'write_file', action: 'ask' }], gateways } = given;
  const workspace = mkdtempSync(join(tmpdir(), 'natter-ui-'));
  afterwards(() => rm(workspace, { recursive: true, force: true }));
  const agent = { owners: ['telegram:7'], names: ['natter'], workspace };
  const whole = await startWhole({ more: { agent, tools: { rules } }, ...(gateways && { gateways }) });
  return { ...whole, url: whole.gateways[0]?.url ?? '', written: () => readFileSync(join(workspace, 'note.md'), 'utf8') };
};
export type Tools = Awaited<ReturnType<typeof startTools>>;
export const writing = (content: string) => `[[tool write_file {"path":"note.md","content":"${content}"}]]`;

/** What a stream said, frame by frame. */
export const framesOf = (text: string): string[] => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data);

/** A chat at a gateway with the official client. `chunks` has what each of its streams told. */
export const chatAt = (url: string, name: Name, id: string, more: Partial<ChatInit<UIMessage>> = {}) => {
  const streams: { status: number; text: string }[] = [];
  /** Listens in. */
  const heard: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const stream = { status: response.status, text: '' };
    streams.push(stream);
    if (response.body === null) return response;
    const decoder = new TextDecoder();
    const listening = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        stream.text += decoder.decode(bytes, { stream: true });
        controller.enqueue(bytes);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(listening), { status, headers });
  };
  const transport = new DefaultChatTransport({
    api: `${url}/v1/ui/chat`,
    headers: { authorization: `Bearer ${secretOf(name)}` },
    fetch: heard,
  });
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
  const chat = new Chat({ id, transport, sendAutomaticallyWhen, ...more });
  /** The chunks of one stream; each is as the package's own schema wants it. */
  const chunks = async (at = -1): Promise<UIMessageChunk[]> => {
    const frames = framesOf(streams.at(at)?.text ?? '');
    expect(frames.at(-1)).toBe('[DONE]');
    const told = frames.slice(0, -1).map((frame) => JSON.parse(frame));
    for (const chunk of told) expect(await uiMessageChunkSchema().validate?.(chunk)).toMatchObject({ success: true });
    return told;
  };
  return { chat, streams, chunks };
};

/** What a message shows: its texts, and how its calls stand. */
export const shown = (message: UIMessage | undefined): unknown[] =>
  (message?.parts ?? []).flatMap((part): unknown[] => {
    if (part.type === 'text') return [part.text];
    if (part.type !== 'dynamic-tool') return [];
    return [[part.toolName, part.state]];
  });
