import type { Principal } from "../access/principal.ts";
import type { OperationContext } from "../operation.ts";
import { reportScope } from "../reports/caller.ts";
import type { RunOperation } from "../rest/run-operation.ts";
import { callTool } from "./call-tool.ts";
import { instructionsFor } from "./instructions.ts";
import { type RpcAnswer, type RpcMessage, rpcError, rpcResult } from "./json-rpc.ts";
import { describeTools } from "./tool-schema.ts";
import { findTool } from "./tools.ts";

type Request = Extract<RpcMessage, { readonly kind: "request" }>;

/** Newest first. The first one is offered to a client that asks for an unknown version (T45). */
const PROTOCOL_VERSIONS = ["2025-06-18", "2025-03-26", "2024-11-05"] as const;
const SERVER_VERSION = "1.0.0";

/** Answers one request of an admitted key. Never rejects. */
export async function answerRequest(
  context: OperationContext,
  { id, method, params }: Request,
  run: RunOperation,
): Promise<RpcAnswer> {
  const { principal } = context;
  switch (method) {
    case "initialize":
      return rpcResult(id, initializeResult(principal, params["protocolVersion"]));
    case "ping":
      return rpcResult(id, {});
    case "tools/list":
      return rpcResult(id, { tools: describeTools(reportScope(principal).role) });
    case "tools/call": {
      const { name } = params;
      const tool = typeof name === "string" ? findTool(name) : undefined;
      if (tool === undefined) return rpcError(id, "unknownTool", "there is no such tool");
      return rpcResult(id, await callTool(context, tool, params["arguments"], run));
    }
    default:
      return rpcError(id, "unknownMethod", "there is no such method");
  }
}

function initializeResult(principal: Principal, asked: unknown): Record<string, unknown> {
  const { brand_name, name } = principal.workspace;
  return {
    protocolVersion: PROTOCOL_VERSIONS.find((version) => version === asked) ?? PROTOCOL_VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: brand_name === "" ? name : brand_name, version: SERVER_VERSION },
    instructions: instructionsFor(principal),
  };
}
