import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { eraserContract } from './eraser.contract.ts';

eraserContract('erasure in memory', async () => {
  const { portsFor, eraser } = openInMemory({ clock: systemClock });
  const ports = portsFor('eraser');
  return { ports, eraser, close: () => ports.close() };
});
