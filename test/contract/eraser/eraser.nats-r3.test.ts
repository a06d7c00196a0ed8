import { openNatsEraser } from '../../support/eraser.ts';
import { startCluster } from '../../support/nats.ts';
import { eraserContract } from './eraser.contract.ts';

eraserContract('erasure on a cluster', async () => {
  const cluster = await startCluster();
  const opened = await openNatsEraser(cluster.url, 3);
  const close = async (): Promise<void> => {
    await opened.close();
    await cluster.stop();
  };
  return { ...opened, close };
});
