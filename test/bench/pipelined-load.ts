import { connect, type Socket } from "node:net";
import { httpRequest, type Pattern } from "./hostile-patterns.ts";

const CONNECTIONS = 16;
/** Unanswered requests on a connection. Reports are not pipelined: a report's answer comes later than a click's. */
const PIPELINED_CLICKS = 8;
const PIPELINED_REPORTS = 1;
const ANSWER_TIMEOUT_MS = 60_000;
const FAULTS_MAX = 10;
const STATUS_LINE = "HTTP/1.1 ";

export type Sent = { readonly bytes: number; readonly faults: readonly string[] };

/**
 * Sends requests `first` to `first + requests` (exclusive) of a pattern, each once, and waits for every answer. A fault is an answer
 * that the pattern does not expect. No figure includes the cost of the sender.
 */
export async function sendAll(
  port: number,
  pattern: Pattern,
  { first, requests }: { readonly first: number; readonly requests: number },
): Promise<Sent> {
  const host = `127.0.0.1:${port}`;
  const faults: string[] = [];
  const depth = pattern.baseline === "clicks" ? PIPELINED_CLICKS : PIPELINED_REPORTS;
  let next = first;
  let bytes = 0;
  const sendOn = async (): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    try {
      while (next < first + requests) {
        const count = Math.min(depth, first + requests - next);
        const texts = Array.from({ length: count }, (_, index) =>
          httpRequest(pattern.request(next + index), host),
        );
        next += count;
        const text = texts.join("");
        bytes += Buffer.byteLength(text);
        socket.write(text);
        for (const status of await answersOf(socket, count)) {
          const isExpected = pattern.isStored ? status === "302" : /^[24]/.test(status);
          if (!isExpected && faults.length < FAULTS_MAX)
            faults.push(`${pattern.name}: HTTP ${status}`);
        }
      }
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendOn));
  return { bytes, faults };
}

/** The statuses of the next `count` answers. */
function answersOf(socket: Socket, count: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const statuses: string[] = [];
    let text = "";
    const timer = setTimeout(
      () => end(new Error(`no answer in ${ANSWER_TIMEOUT_MS} ms`)),
      ANSWER_TIMEOUT_MS,
    );
    const end = (fault: Error | undefined): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("error", end).off("close", onClose);
      if (fault === undefined) resolve(statuses);
      else reject(fault);
    };
    const onClose = (): void => end(new Error("the connection was closed"));
    const onData = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      let from = 0;
      for (;;) {
        const at = text.indexOf(STATUS_LINE, from);
        const headEnd = at < 0 ? -1 : text.indexOf("\r\n\r\n", at);
        if (headEnd < 0) break;
        const length = /content-length: (\d+)/i.exec(text.slice(at, headEnd))?.[1] ?? "0";
        const answerEnd = headEnd + 4 + Number(length);
        if (text.length < answerEnd) break;
        statuses.push(text.slice(at + STATUS_LINE.length, at + STATUS_LINE.length + 3));
        from = answerEnd;
      }
      text = text.slice(from);
      if (statuses.length >= count) end(undefined);
    };
    socket.on("data", onData).on("error", end).on("close", onClose);
  });
}
