import { openNatsEraser } from '../../support/eraser.ts';
import { startServer } from '../../support/nats.ts';
import { eraserContract } from './eraser.contract.ts';

eraserContract('erasure on one server', async () => {
  const server = await startServer();
  const opened = await openNatsEraser(server.url, 1);
  const close = async (): Promise<void> => {
    await opened.close();
    await server.stop();
  };
  return { ...opened, close };
});
