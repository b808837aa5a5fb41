/** Codes of JSON-RPC 2.0, and -32001 for requests that HTTP refuses. */
export const RPC_ERRORS = {
  refused: -32_001,
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** From the Model Context Protocol. */
  unknownResource: -32_002,
} as const;

type RpcId = string | number;
const ID_CHARACTERS_MAX = 200;
type Params = Readonly<Record<string, unknown>>;

/** A parsed message. A notification has no id and gets no answer. */
export type RpcMessage =
  | {
      readonly kind: "request";
      readonly id: RpcId;
      readonly method: string;
      readonly params: Params;
    }
  | { readonly kind: "notification"; readonly method: string }
  | { readonly kind: "invalid"; readonly id: RpcId | null; readonly why: string };

export type RpcError = {
  readonly code: number;
  readonly message: string;
};

export type RpcAnswer = {
  readonly jsonrpc: "2.0";
  readonly id: RpcId | null;
} & ({ readonly result: unknown } | { readonly error: RpcError });

/** Reads one message of a body that is valid JSON. */
export function readMessage(json: unknown): RpcMessage {
  if (!isObject(json)) return { kind: "invalid", id: null, why: "a message must be an object" };
  const id = idOf(json["id"]);
  const invalid = (why: string): RpcMessage => ({ kind: "invalid", id, why });
  const { method } = json;
  if (json["jsonrpc"] !== "2.0") return invalid('jsonrpc must be "2.0"');
  if (typeof method !== "string") return invalid("method must be text");
  // An id of null is refused: its answer would look like the answer to a damaged message.
  if (id === null && "id" in json)
    return invalid(`id must be a number, or text of at most ${ID_CHARACTERS_MAX} characters`);
  const params = json["params"] ?? {};
  if (!isObject(params)) return invalid("params must be an object");
  return id === null ? { kind: "notification", method } : { kind: "request", id, method, params };
}

/** A text is repeated in the answer, so it may not be long. */
function idOf(given: unknown): RpcId | null {
  if (typeof given === "string") return given.length <= ID_CHARACTERS_MAX ? given : null;
  return typeof given === "number" && Number.isFinite(given) ? given : null;
}

export function rpcResult(id: RpcId, result: unknown): RpcAnswer {
  return { jsonrpc: "2.0", id, result };
}

export function rpcError(
  id: RpcId | null,
  kind: keyof typeof RPC_ERRORS,
  message: string,
): RpcAnswer {
  return { jsonrpc: "2.0", id, error: { code: RPC_ERRORS[kind], message } };
}

/** An object in JSON, not null and not a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
