import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";

export type Received = {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The same as bytes. */
  readonly bytes: Buffer;
  readonly atMs: number;
};

export type Receiver = AsyncDisposable & {
  readonly port: number;
  readonly received: readonly Received[];
  /** Number of opened connections, including those without a request. */
  readonly connections: () => number;
  /** Sets how it answers from now on; at first 200 with an empty body. */
  answer(how: (response: ServerResponse, request: Received) => void): void;
  close(): Promise<void>;
};

/** An HTTP server on 127.0.0.1 that plays the other party. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  let answer = (response: ServerResponse, _request: Received): void => void response.end();
  const server = createServer((request, response) => {
    const { method = "", url: target = "", headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      const one = {
        method,
        target,
        headers,
        body: bytes.toString("utf8"),
        bytes,
        atMs: Date.now(),
      };
      received.push(one);
      answer(response, one);
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    received,
    connections: () => connections,
    answer: (how) => {
      answer = how;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
