import { openMemory } from '../../shared/adapters/in-memory/open.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { eraserContract } from './eraser.contract.ts';

eraserContract('erasure in memory', async () => {
  const { portsFor, eraser } = openMemory({ clock: systemClock });
  const ports = portsFor('eraser');
  return { ports, eraser, keepsCustody: false, close: () => ports.close() };
});
