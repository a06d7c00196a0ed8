import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket as ServerSocket, WebSocket, WebSocketServer } from 'ws';
import { createClient } from '../../../shared/client/main.ts';
import { afterwards, token } from '../gateway/setup.ts';

/** Answers a frame that was heard. */
export type Turn = (say: (frame: object) => void, heard: any, socket: ServerSocket) => void;

/** A gateway that says what it is told to, to each connection in turn. */
export const pretend = async (...turns: readonly Turn[]) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  afterwards(async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  let connections = 0;
  server.on('connection', (socket) => {
    const turn = turns[Math.min(connections, turns.length - 1)];
    connections += 1;
    socket.on('message', (data) => turn?.((frame) => socket.send(JSON.stringify(frame)), JSON.parse(data.toString()), socket));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, client: createClient({ url, token, WebSocket }), connections: () => connections };
};
