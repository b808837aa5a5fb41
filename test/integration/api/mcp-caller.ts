import { expect } from "vitest";
import { z } from "zod";

const Answer = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.strictObject({ code: z.int(), message: z.string().min(1) }).optional(),
});
export type RpcAnswer = z.infer<typeof Answer>;

const Succeeded = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id: z.literal(1),
  result: z.record(z.string(), z.unknown()),
});

const ToolResult = z.strictObject({
  content: z.tuple([z.strictObject({ type: z.literal("text"), text: z.string() })]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean(),
});

/** The answer of a tool: the body as of REST, or the text of a refusal. */
export type ToolAnswer = {
  readonly isError: boolean;
  readonly text: string;
  readonly body: Record<string, unknown>;
};

export type HttpAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

type PostOptions = {
  readonly key?: string | undefined;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends raw JSON-RPC to `/mcp`, so that tests can send and see what a client library would hide. */
export class McpCaller {
  readonly url: string;
  readonly #key: string;

  constructor(origin: string, key: string) {
    this.url = `${origin}/mcp`;
    this.#key = key;
  }

  /** `key: undefined` sends none. */
  async post(body: unknown, options: PostOptions = {}): Promise<HttpAnswer> {
    const key = "key" in options ? options.key : this.#key;
    const answer = await fetch(this.url, {
      method: "POST",
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        "content-type": "application/json",
        ...options.headers,
      },
      body: options.raw ?? JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  /** Sends one request; any single message is answered with HTTP 200. */
  async request(method: string, params?: unknown): Promise<RpcAnswer> {
    return rpcAnswer(await this.post({ jsonrpc: "2.0", id: 1, method, params }));
  }

  async result(method: string, params?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.request(method, params);
    return Succeeded.parse(answer).result;
  }

  async tool(name: string, given?: unknown): Promise<ToolAnswer> {
    return toolAnswer(await this.result("tools/call", { name, arguments: given }));
  }

  /** The text of a refusal, or `accepted: …` if there is none. */
  async refusal(name: string, given?: unknown): Promise<string> {
    const { isError, text } = await this.tool(name, given);
    return isError ? text : `accepted: ${text}`;
  }

  /** The answer of REST to the same key; `path` is below `/api/v1`. */
  async rest(path: string): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.url.replace(/mcp$/, "api/v1")}${path}`, {
      headers: { authorization: `Bearer ${this.#key}` },
    });
    const body: unknown = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return z.record(z.string(), z.unknown()).parse(body);
  }
}

export function rpcAnswer({ text }: Pick<HttpAnswer, "text">): RpcAnswer {
  return Answer.parse(JSON.parse(text));
}

/** Parses the result of a tool call, and expects its text to be the JSON of the body or the refusal. */
export function toolAnswer(result: unknown): ToolAnswer {
  const { content, structuredContent, isError } = ToolResult.parse(result);
  const [{ text }] = content;
  expect(structuredContent === undefined).toBe(isError);
  if (!isError) expect(JSON.parse(text)).toEqual(structuredContent);
  return { isError, text, body: structuredContent ?? {} };
}

export function rpcAnswers({ text }: HttpAnswer): RpcAnswer[] {
  return z.array(Answer).parse(JSON.parse(text));
}
