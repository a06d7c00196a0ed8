import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import pc from 'picocolors';
import { auditKinds } from '../../../shared/domain/access/audit.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { StoredAudit } from '../../../shared/ports/audit-log.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../access.ts';
import { asJson, oneLine, type World } from '../terminal.ts';

interface AuditOptions extends CommonOptions {
  readonly kind?: string;
  readonly after?: number;
  readonly limit: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}
interface Page {
  readonly records: readonly StoredAudit[];
  readonly next: string;
}

const patienceMs = 30_000;
const lookMs = 1_000;

const lineOf = ({ seq, at, kind, actor, target, outcome, detail, address, count = 1 }: StoredAudit): string => {
  const mark = { ok: pc.green, refused: pc.yellow, failed: pc.red }[outcome];
  const who = [actor || 'somebody', ...(address === undefined ? [] : [`(${address})`])].join(' ');
  const what = [target ?? '', detail ?? '', count > 1 ? `${count} times` : ''].filter(Boolean).join('  ');
  return oneLineOf([pc.dim(`${seq} ${new Date(at).toISOString()}`), mark(kind), who, what]);
};
const oneLineOf = (parts: readonly string[]): string =>
  parts
    .filter(Boolean)
    .map((part) => oneLine(part, 300))
    .join('  ');

/** `natter audit`: who did, or tried, what concerns security (docs/operate/access.md). */
export const auditCommand = (program: Command, world: World): void => {
  program
    .command('audit')
    .description('show who did, or tried, what concerns security; the newest last')
    .addOption(new Option('--kind <kind>', 'only this').choices(auditKinds))
    .option('--after <seq>', 'what came after this record, instead of the newest', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option('--limit <count>', 'how many', wholeNumber(1, limits.pageRows), 50)
    .option('--follow', 'and what comes from now on; ends with Ctrl-C')
    .option('--json', 'one JSON object per line')
    .action(async (_: unknown, command: Command) => {
      const { kind, after: begin, limit, follow, json, ...common } = command.optsWithGlobals<AuditOptions>();
      const client = clientOf(world, common);
      const signal = follow ? world.interrupted : undefined;
      const tell = async (after: string | number | undefined): Promise<string> => {
        const query = { after, limit, kind };
        const { records, next } = await client.get<Page>('/v1/audit', { query, patienceMs: follow ? patienceMs : 0 });
        for (const record of records) world.terminal.out(json ? asJson(record) : lineOf(record));
        return next;
      };
      for (let after = await tell(begin); signal && !signal.aborted; after = await tell(after))
        await delay(lookMs, undefined, { signal }).catch(() => {});
    });
};
