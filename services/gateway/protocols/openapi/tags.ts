import type { Tag } from '../../operation/operation.ts';

/** The groups of operations, in the order in which the document shows them. */
export const tags: Readonly<Record<Tag, string>> = {
  messages: 'Send messages, read what was said, and follow the runs that answer. See docs/integrate/http-api.md.',
  sessions: 'List sessions, read their state and their log, and change, reset, fork or delete them.',
  events: 'Read events as pages, or follow them as server-sent events. Each event type is in docs/integrate/events.md.',
  approvals: 'List tool calls that await approval, and answer them. See docs/use/approvals.md.',
  memory: 'Read, search, add to and remove from long-term memory. See docs/use/memory.md.',
  methods: 'Call methods by name, as over a WebSocket. See docs/integrate/http-api.md.',
  access: 'Manage access tokens and stream tickets, and read the audit trail. See docs/operate/access.md.',
  operations: 'Health, metrics and the descriptions of the API itself.',
  openai: "OpenAI-compatible calls, for OpenAI's own clients. See docs/integrate/openai-api.md.",
  'user interfaces': 'Streams for user interfaces: AI SDK and AG-UI. See docs/integrate/ui-streams.md.',
};
