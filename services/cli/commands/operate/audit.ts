import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import pc from 'picocolors';
import type { AuditPage } from '../../../../shared/client/main.ts';
import { auditKinds } from '../../../../shared/domain/access/audit.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { timeText, zoneOf } from '../../time.ts';

interface AuditOptions extends CommonOptions {
  readonly kind?: string;
  readonly after?: number;
  readonly limit: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}
type AuditRecord = AuditPage['records'][number];

const patienceMs = 30_000;
const pollMs = 1_000;

const lineOf = (record: AuditRecord, zone: string): string => {
  const { seq, at, kind, actor, target, outcome, detail, address, count = 1, commitSeq } = record;
  const colour = { ok: pc.green, refused: pc.yellow, failed: pc.red }[outcome];
  const who = [actor || 'unknown', ...(address === undefined ? [] : [`(${address})`])].join(' ');
  const commit = commitSeq === undefined ? '' : `log sequence ${commitSeq}`;
  const what = [target ?? '', detail ?? '', commit, count > 1 ? `${count} times` : ''].filter(Boolean).join('  ');
  return oneLineOf([pc.dim(`${seq} ${timeText(at, zone)}`), colour(kind), who, what]);
};
const oneLineOf = (parts: readonly string[]): string =>
  parts
    .filter(Boolean)
    .map((part) => oneLine(part, 300))
    .join('  ');

/** `natter audit`: the audit trail, security-relevant actions and who did or tried them (docs/operate/access.md). */
export const auditCommand = (program: Command, world: World): void => {
  program
    .command('audit')
    .addOption(new Option('--kind <kind>', 'only this kind of record').choices(auditKinds))
    .option('--after <seq>', 'records after this one, instead of the newest', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option('--limit <count>', 'maximum number of records', wholeNumber(1, limits.pageRows), 50)
    .option('--follow', 'keep printing new records, until Ctrl-C')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', example('audit --follow'))
    .action(async (_: unknown, command: Command) => {
      const { kind, after: start, limit, follow, json, ...common } = command.optsWithGlobals<AuditOptions>();
      const client = clientOf(world, common);
      const signal = follow ? world.interrupted : undefined;
      const showPage = async (after: string | number | undefined): Promise<string> => {
        const query = { after, limit, kind };
        const { records, next } = await client.get<AuditPage>('/v1/audit', { query, patienceMs: follow ? patienceMs : 0 });
        for (const record of records) world.terminal.out(json ? asJson(record) : lineOf(record, zoneOf(world, common)));
        return next;
      };
      for (let after = await showPage(start); signal && !signal.aborted; after = await showPage(after))
        await delay(pollMs, undefined, { signal }).catch(() => {});
    });
};
