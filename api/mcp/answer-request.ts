import { problemOf } from "../http/problem.ts";
import type { RunOperation } from "../http/run-operation.ts";
import type { OperationContext } from "../operation/operation.ts";
import type { Principal } from "../operation/principal.ts";
import { answerPrompt, describePrompts } from "./answer-prompt.ts";
import { callTool } from "./call-tool.ts";
import { instructionsFor } from "./instructions.ts";
import { type RpcAnswer, type RpcMessage, rpcError, rpcResult } from "./json-rpc.ts";
import { describeResources, describeTemplates, readResource } from "./resources.ts";
import { describeTools } from "./tool-schema.ts";
import { findTool } from "./tools.ts";

type Request = Extract<RpcMessage, { readonly kind: "request" }>;

/** Newest first. The first one is offered to a client that asks for an unknown version (T45). */
const PROTOCOL_VERSIONS = ["2025-06-18", "2025-03-26", "2024-11-05"] as const;
const SERVER_VERSION = "1.0.0";

/** Answers one request of an admitted key. Never rejects: a fault of one message leaves the others of its batch their answers. */
export async function answerRequest(
  context: OperationContext,
  request: Request,
  run: RunOperation,
): Promise<RpcAnswer> {
  try {
    return await answerMethod(context, request, run);
  } catch (error) {
    const { code, message } = problemOf(error, context.log);
    return rpcError(request.id, "internal", `${code}: ${message}`);
  }
}

async function answerMethod(
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
      return rpcResult(id, { tools: describeTools(principal) });
    case "tools/call": {
      const { name } = params;
      const tool = typeof name === "string" ? findTool(name) : undefined;
      if (tool === undefined) return rpcError(id, "invalidParams", "there is no such tool");
      return rpcResult(id, await callTool(context, tool, params["arguments"], run));
    }
    case "prompts/list":
      return rpcResult(id, { prompts: await describePrompts(context) });
    case "prompts/get": {
      const answer = await answerPrompt(context, params);
      return "fault" in answer
        ? rpcError(id, "invalidParams", answer.fault)
        : rpcResult(id, answer.result);
    }
    case "resources/list":
      return rpcResult(id, { resources: await describeResources(context) });
    case "resources/templates/list":
      return rpcResult(id, { resourceTemplates: await describeTemplates(context) });
    case "resources/read": {
      const answer = await readResource(context, params["uri"], run);
      return "result" in answer
        ? rpcResult(id, answer.result)
        : rpcError(id, answer.kind, answer.message);
    }
    default:
      return rpcError(id, "unknownMethod", "there is no such method");
  }
}

function initializeResult(principal: Principal, asked: unknown): Record<string, unknown> {
  const { brand_name, name } = principal.workspace;
  return {
    protocolVersion: PROTOCOL_VERSIONS.find((version) => version === asked) ?? PROTOCOL_VERSIONS[0],
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: brand_name === "" ? name : brand_name, version: SERVER_VERSION },
    instructions: instructionsFor(principal),
  };
}
