/**
 * A process that sends requests at an even rate: `node open-loop.js <order.json>`. It sends each request when it is due, whether or not
 * earlier ones have been answered, and measures from that time until the answer is complete. Prints one line of JSON: {@link OpenLoopResult}.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { OpenLoopOrder, type OpenLoopResult } from "./open-loop-order.ts";
import { quantile } from "./result.ts";

const CONNECTIONS = 64;
/** Requests that wait on one connection. With more, the server is too slow for the rate, and the result would be meaningless. */
const WAITING_MAX = 1_000;
const ANSWER_TIMEOUT_MS = 30_000;
const HEAD_END = Buffer.from("\r\n\r\n");
/** "HTTP/1.1 302": where the status begins and ends. */
const STATUS = [9, 12] as const;

/** Sends on one connection and times the answers, which come in the order of the requests. */
class Lane {
  readonly #socket: Socket;
  readonly #onAnswer: (status: string, dueMs: number) => void;
  readonly #due: number[] = [];
  #rest: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, onAnswer: (status: string, dueMs: number) => void) {
    this.#socket = socket;
    this.#onAnswer = onAnswer;
    socket
      .setNoDelay(true)
      .on("data", (chunk) => this.#read(chunk))
      .on("error", fail);
    socket.on("close", () => {
      if (this.#due.length > 0) fail(new Error("the server closed a connection"));
    });
  }

  static async open(
    port: number,
    onAnswer: (status: string, dueMs: number) => void,
  ): Promise<Lane> {
    const socket = connect(port, "127.0.0.1");
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
    });
    return new Lane(socket, onAnswer);
  }

  send(text: string, dueMs: number): void {
    if (this.#due.length >= WAITING_MAX) fail(new Error("the server is too slow for this rate"));
    this.#due.push(dueMs);
    this.#socket.write(text, "latin1");
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    let bytes: Buffer = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd < 0) break;
      const head = bytes.toString("latin1", 0, headEnd);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + HEAD_END.length + length;
      if (bytes.length < end) break;
      this.#onAnswer(head.slice(...STATUS), this.#due.shift() ?? 0);
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }
}

const order = OpenLoopOrder.parse(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
const timesUs: number[] = [];
const statuses: Record<string, number> = {};
const lanes = await Promise.all(
  Array.from({ length: CONNECTIONS }, () =>
    Lane.open(order.port, (status, dueMs) => {
      timesUs.push((performance.now() - dueMs) * 1_000);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }),
  ),
);
const everyMs = 1_000 / order.perSecond;
const startedAtMs = performance.now();
await new Promise<void>((resolve) => {
  let next = 0;
  const turn = (): void => {
    for (const nowMs = performance.now(); next < order.requests; next += 1) {
      const dueMs = startedAtMs + next * everyMs;
      if (dueMs > nowMs) break;
      lanes[next % CONNECTIONS]?.send(order.texts[next % order.texts.length] ?? "", dueMs);
    }
    if (timesUs.length === order.requests) resolve();
    else if (performance.now() > startedAtMs + order.requests * everyMs + ANSWER_TIMEOUT_MS)
      fail(new Error(`${order.requests - timesUs.length} requests have no answer`));
    else if (order.spins) setImmediate(turn);
    else setTimeout(turn, 1);
  };
  turn();
});
const seconds = (performance.now() - startedAtMs) / 1_000;
for (const lane of lanes) lane.close();
const result: OpenLoopResult = {
  perSecond: order.requests / seconds,
  p50Us: quantile(timesUs, 0.5),
  p99Us: quantile(timesUs, 0.99),
  statuses,
};
process.stdout.write(JSON.stringify(result));

function fail(error: Error): never {
  console.error(error);
  process.exit(1);
}
