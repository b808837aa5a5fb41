import { isObject, rpcError } from "./json-rpc.ts";

/** The limit of the server (1 MiB), so a longer message would be refused there. */
const MESSAGE_BYTES_MAX = 1024 ** 2;
const UNDER_WAY_MAX = 8;
const ANSWER_TIMEOUT_MS = 60_000;
const NEWLINE = 0x0a;

export type Bridge = {
  /** The address of the MCP server. */
  readonly url: string;
  readonly key: string;
  readonly input: AsyncIterable<Buffer>;
  readonly write: (line: string) => void;
};

/** A message that is longer than the server takes. */
export class MessageTooLongError extends Error {
  override readonly name = "MessageTooLongError";
}

/**
 * Carries an MCP session over standard input and output: each line is a message, sent to the server by HTTP, and each answer is a line.
 * Resolves when the input has ended and all answers are written. Up to 8 messages are under way.
 * @throws {MessageTooLongError}
 */
export async function carryMessages({ url, key, input, write }: Bridge): Promise<void> {
  const underWay = new Set<Promise<void>>();
  for await (const line of linesOf(input)) {
    if (line.trim() === "") continue;
    while (underWay.size >= UNDER_WAY_MAX) await Promise.race(underWay);
    const carried = carry({ url, key }, line).then((answer) => {
      underWay.delete(carried);
      if (answer !== "") write(answer);
    });
    underWay.add(carried);
  }
  await Promise.all(underWay);
}

/** The answer as one line; "" for a notification. Never rejects. */
async function carry(
  { url, key }: { readonly url: string; readonly key: string },
  message: string,
): Promise<string> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: message,
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const text = await answer.text();
    if (text === "") return "";
    // oxlint-disable-next-line eslint/no-restricted-properties -- an answer of the server
    const body: unknown = JSON.parse(text);
    return JSON.stringify(answer.ok ? body : withId(body, idOf(message)));
  } catch (error) {
    const id = idOf(message);
    if (id === undefined) return "";
    return JSON.stringify(
      rpcError(
        id,
        "internal",
        `${url} does not answer: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
  }
}

/** A request that HTTP refuses is answered without its id, but a client waits for an answer with the id. */
function withId(body: unknown, id: string | number | undefined): unknown {
  return id !== undefined && isObject(body) ? { ...body, id } : body;
}

function idOf(message: string): string | number | undefined {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- a program on this machine sent it, and only its id is read
    const parsed: unknown = JSON.parse(message);
    const id = isObject(parsed) ? parsed["id"] : undefined;
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    // Not JSON: the server's answer says so.
    return undefined;
  }
}

/** @throws {MessageTooLongError} */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString();
      parts = [];
      bytes = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    bytes += rest.length;
    if (bytes > MESSAGE_BYTES_MAX) {
      throw new MessageTooLongError(`a message has more than ${MESSAGE_BYTES_MAX} bytes`);
    }
    if (rest.length > 0) parts.push(rest);
  }
  if (bytes > 0) yield Buffer.concat(parts).toString();
}
