import type { Config } from '../../../shared/domain/config/schema.ts';
import type { Sender } from '../../../shared/domain/values/types.ts';
import type { Tool } from '../../../shared/ports/tools.ts';
import { isStranger } from './on-behalf.ts';

/** The tool policy decision for a call, from the configuration (A5/62). */

type Rules = Config['tools']['rules'];
type Rule = Rules[number];

export interface AskedCall {
  readonly tool: Pick<Tool, 'name' | 'usual' | 'onceOnly' | 'openToAll'>;
  /** The arguments, parsed as JSON. */
  readonly arguments: unknown;
  readonly agentId: string;
  readonly channel?: string | undefined;
  /** The author of the message that the turn answers. */
  readonly sender: Sender;
}
/**
 * `rule` names what decided: `tools.rules[2]`, or the tool's default. Besides the owner, the principals in `approvers` may
 * answer.
 */
export type ToolWord =
  | { readonly action: 'allow' }
  | { readonly action: 'deny'; readonly rule: string }
  | { readonly action: 'ask'; readonly rule: string; readonly approvers: string[] };

/**
 * The strictest matching rule decides, or else the tool's default; a stranger has a tool by a rule only, unless it is open to all. A
 * tool with `onceOnly` is never allowed without asking.
 */
export const toolWord = (rules: Rules, asked: AskedCall): ToolWord => {
  const matching = rules.flatMap((rule, index) => (matches(rule, asked) ? [{ ...rule, name: `tools.rules[${index}]` }] : []));
  const withAction = (wanted: Rule['action']) => matching.filter(({ action }) => action === wanted);
  const { name, usual, onceOnly } = asked.tool;
  const usualName = `what is usual for the tool "${name}"`;
  if (matching.length === 0 && needsRule(asked)) return { action: 'deny', rule: noRule };

  const [denying] = withAction('deny');
  if (denying) return { action: 'deny', rule: denying.name };
  const asking = withAction('ask');
  if (asking[0]) return { action: 'ask', rule: asking[0].name, approvers: approversOf(asking, asked.sender) };
  const allowed = matching.length > 0 || usual === 'allow';
  if (allowed && !onceOnly) return { action: 'allow' };
  return allowed || usual === 'ask' ? { action: 'ask', rule: usualName, approvers: [] } : { action: 'deny', rule: usualName };
};

const needsRule = ({ tool, sender }: Omit<AskedCall, 'arguments'>): boolean => isStranger(sender) && !tool.openToAll;
const noRule = 'no rule in "tools.rules" allows it for participants';

/**
 * False if no call of the tool can be allowed: it is not offered to the model then (ADR 22). The owner's turns see every tool, and what
 * the rules deny is explained.
 */
export const isOffered = (rules: Rules, asked: Omit<AskedCall, 'arguments'>): boolean => {
  if (!isStranger(asked.sender)) return true;
  const matching = rules.filter((rule) => matchesTool(rule, asked));
  if (matching.some(({ action, arguments: given }) => action === 'deny' && given === undefined)) return false;
  return !needsRule(asked) || matching.some(({ action }) => action !== 'deny');
};

/** The approvers that every asking rule accepts: the strictest reading of several rules. */
const approversOf = (asking: readonly Rule[], { principal }: Sender): string[] => {
  const [first = [], ...others] = asking.map(({ approvers }) =>
    approvers.flatMap((approver) => (approver === 'asker' ? (principal ?? []) : [approver])),
  );
  return [...new Set(first)].filter((approver) => others.every((listed) => listed.includes(approver)));
};

/**
 * Everything a rule names must match. Channel names are compared without case, as in the send policy. A sender without a role is
 * a participant.
 */
const matches = (rule: Rule, asked: AskedCall): boolean =>
  matchesTool(rule, asked) &&
  Object.entries(rule.arguments ?? {}).every(([name, pattern]) => matchesArgument(pattern, rule.action, asked.arguments, name));

/** The same, whatever the arguments. */
const matchesTool = (rule: Rule, { tool, agentId, channel, sender }: Omit<AskedCall, 'arguments'>): boolean =>
  matchesPattern(rule.tool, tool.name) &&
  (rule.agent === undefined || rule.agent === agentId) &&
  (rule.channel === undefined || rule.channel.toLowerCase() === channel?.toLowerCase()) &&
  (rule.role === undefined || rule.role === (sender.role ?? 'participant'));

/**
 * Strings are matched as they are, other values as JSON. A value nested too deeply for JSON never matches an `allow` rule and
 * always matches the others.
 */
const matchesArgument = (pattern: string, action: Rule['action'], given: unknown, name: string): boolean => {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, name)) return false;
  const value: unknown = (given as Readonly<Record<string, unknown>>)[name];
  try {
    return matchesPattern(pattern, typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  } catch {
    return action !== 'allow';
  }
};

/** True if the whole `text` matches; `*` stands for any number of characters, including none. Takes at most one pass per `*`. */
export const matchesPattern = (pattern: string, text: string): boolean => {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === text;
  if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  const end = text.length - tail.length;
  let from = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found === -1 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
};
