import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { metadata } from './metadata.ts';
import { queueModes } from './queue-rule.ts';
import { origin } from './types.ts';

/** When the agent answers in a group: if it is addressed, or always (B28). */
export const activations = ['mention', 'always'] as const;

/** Settings of one session; an unset one follows the configuration. Kept over a reset. */
export const settings = z.object({
  sendPolicy: z.enum(['allow', 'deny']).optional(),
  model: z.string().min(1).max(256).optional(),
  thinkingLevel: z.string().min(1).max(32).optional(),
  verboseLevel: z.string().min(1).max(32).optional(),
  displayName: origin.shape.displayName,
  /** Instead of the configured mode, unless a message brings its own. */
  queueMode: z.enum(queueModes).optional(),
  /** In a group, instead of the configured rule. */
  activation: z.enum(activations).optional(),
  /** A person's description of the session; it takes precedence over the introspection's (A2/17, A7/82). */
  description: z.string().min(1).max(limits.descriptionCharacters).optional(),
  pinned: z.literal(true).optional(),
  labels: z.array(z.string().min(1).max(64)).min(1).max(16).optional(),
  /** Looser than what may be set: which texts are one emoji changes with Unicode, and what was recorded stays valid. */
  icon: z.string().min(1).max(32).optional(),
  metadata: metadata.optional(),
});
export type Settings = z.infer<typeof settings>;

/** A change of settings; `null` unsets one. */
export const settingsChange = z.object({
  sendPolicy: settings.shape.sendPolicy.nullable(),
  model: settings.shape.model.nullable(),
  thinkingLevel: settings.shape.thinkingLevel.nullable(),
  verboseLevel: settings.shape.verboseLevel.nullable(),
  displayName: settings.shape.displayName.nullable(),
  queueMode: settings.shape.queueMode.unwrap().nullish(),
  activation: settings.shape.activation.unwrap().nullish(),
  description: settings.shape.description.nullable(),
  pinned: settings.shape.pinned.unwrap().nullish(),
  labels: settings.shape.labels.unwrap().nullish(),
  icon: settings.shape.icon.nullable(),
  metadata: metadata.nullish(),
});
export type SettingsChange = z.infer<typeof settingsChange>;
