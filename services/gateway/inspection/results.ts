import { z } from 'zod';

/** The answers about the system itself. Objects may get further fields. */

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

const texts = z.array(z.string());
const count = z.int().min(0);

const serviceThere = z.object({
  name: z.string(),
  member: z.string().optional().describe('its name in commits (`host:…`), leases and lines of the log; a gateway has none'),
  problems: texts,
  warnings: texts,
  metrics: z.record(z.string(), z.number()).describe('those of docs/operate/metrics.md, without `natter_` and the service'),
});
const processThere = z
  .object({
    process: z.string().describe('its unique name'),
    version: z.string(),
    startedAt: z.number(),
    reportedAt: z.number(),
    services: z.array(serviceThere),
  })
  .meta({ id: 'Process', description: 'A process that reports its health, and what runs in it.' });
const partition = z
  .object({
    partition: count,
    process: z.string().nullable().describe('who processes its commands; `null`: nobody says so at the moment'),
    since: z.number().optional().describe('when that process took it over'),
    waiting: count.nullable().describe('commands that are not done yet; `null`: the broker does not say'),
  })
  .meta({ id: 'Partition', description: 'A share of the session keys, held by one session host at a time.' });
export const hosts = z.object({
  processes: z.array(processThere),
  partitions: z.array(partition),
  ofKey: count.optional().describe('the partition of the session key that was asked about'),
});

export const skills = z.object({
  skills: z.array(
    z
      .object({
        name: z.string().nullable().describe('`null`: the folder is no skill'),
        description: z.string(),
        source: z.string().describe('which of the places for skills it is in'),
        folder: z.string(),
        status: z.enum(['eligible', 'ineligible', 'shadowed', 'unusable']),
        reasons: texts.describe('why the agent does not have it, in sentences'),
        notes: texts,
        repair: z.string().nullable().describe('the command that installs what is missing'),
        command: z.string().nullable().describe('the word that calls it in a chat, without `/`; `null`: no word does'),
      })
      .meta({ id: 'Skill', description: 'A folder that may have a skill, in order of precedence.' }),
  ),
});

export const config = z.object({
  file: z.string().nullable().describe('`null`: there is none'),
  keys: z.array(
    z
      .object({
        path: z.string(),
        value: z.unknown().describe('secrets are `[secret]`'),
        origin: z.string().describe('`default`, a variable of the environment, or the line of the file'),
        takesEffect: z
          .enum(['at_once', 'at_start'])
          .describe('when another value counts: once the file is saved, or at the next start'),
        effect: z.string().optional().describe('what the key does'),
      })
      .meta({ id: 'ConfigKey', description: 'A key of the configuration with its value in force.' }),
  ),
  processes: z
    .array(z.object({ process: z.string(), differsIn: texts }))
    .describe('the other processes, and the sections in which their configuration differs from that of this gateway'),
});

export const metricHistory = z.object({
  at: z
    .array(z.number())
    .describe('when each sample was taken, oldest first: one every ten seconds, of the last fifteen minutes'),
  series: z
    .record(z.string(), z.array(z.number().nullable()))
    .describe('of each metric the sum of its series at each sample; `null`: there was none'),
});

export const findings = z.object({
  ok: z.boolean().describe('no check failed'),
  findings: z.array(
    z
      .object({ what: z.string(), level: z.enum(['ok', 'warn', 'fail']), detail: z.string(), fix: z.string().optional() })
      .meta({ id: 'Finding', description: 'What one check found, as `natter doctor` says it.' }),
  ),
});

export const log = z.object({
  lines: z.array(
    z
      .object({
        number: count.describe('of all lines of the process, from 1'),
        at: z.number(),
        level: z.enum(logLevels),
        message: z.string(),
        fields: z.record(z.string(), z.unknown()),
      })
      .meta({ id: 'LogLine' }),
  ),
  next: count.describe('the `after` of the next call'),
});
