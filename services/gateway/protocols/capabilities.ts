import { approvalOperations } from '../approvals/operations.ts';
import { attachmentOperations } from '../attachments/operations.ts';
import { auditOperations } from '../audit/operations.ts';
import { deadLetterOperations } from '../dead-letters/operations.ts';
import { deliveryOperations } from '../deliveries/operations.ts';
import { eventOperations } from '../events/operations.ts';
import { inspectionOperations } from '../inspection/operations.ts';
import { memoryOperations } from '../memory/operations.ts';
import { messageOperations } from '../messages/operations.ts';
import type { Operation } from '../operation/operation.ts';
import { pageOperations } from '../page/operations.ts';
import { pairingOperations } from '../pairing/operations.ts';
import { runOperations } from '../runs/operations.ts';
import { contextOperations } from '../sessions/context-operations.ts';
import { historyOperations } from '../sessions/history-operations.ts';
import { sessionOperations } from '../sessions/operations.ts';
import { repairOperations } from '../sessions/repair.ts';
import { retentionOperations } from '../sessions/retention-operations.ts';
import { systemOperations } from '../system/operations.ts';
import { tokenOperations } from '../tokens/operations.ts';

/** What the gateway can do, whatever the protocol. Methods by name are listed in this order. */
export const capabilities: readonly Operation[] = [
  ...sessionOperations,
  ...contextOperations,
  ...historyOperations,
  ...repairOperations,
  ...eventOperations,
  ...approvalOperations,
  ...memoryOperations,
  ...messageOperations,
  ...attachmentOperations,
  ...runOperations,
  ...tokenOperations,
  ...pageOperations,
  ...retentionOperations,
  ...auditOperations,
  ...deadLetterOperations,
  ...deliveryOperations,
  ...pairingOperations,
  ...systemOperations,
  ...inspectionOperations,
];
