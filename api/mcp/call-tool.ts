import { noteInAuditLog } from "../access/audit-log.ts";
import { authorize } from "../access/authorize.ts";
import { problemOf } from "../http/problem.ts";
import { readInput } from "../http/request-input.ts";
import type { RunOperation } from "../http/run-operation.ts";
import type { OperationContext } from "../operation/operation.ts";
import { requestOfCall } from "./tool-request.ts";
import type { Tool } from "./tools.ts";

type TextBlock = { readonly type: "text"; readonly text: string };

/** The result of `tools/call`: the body of the REST answer, or why the call failed. */
export type ToolResult = {
  readonly content: readonly TextBlock[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
};

/** Runs the operation of a tool as REST would and records the call (G177). Never rejects. */
export async function callTool(
  context: OperationContext,
  tool: Tool,
  given: unknown,
  run: RunOperation,
): Promise<ToolResult> {
  const { status, ...result } = await resultOf(context, tool, given, run);
  await noteInAuditLog(context, {
    principal: context.principal,
    action: `mcp:${tool.name}`,
    ip: context.clientIp,
    status,
    requestId: context.requestId,
  });
  return result;
}

async function resultOf(
  context: OperationContext,
  tool: Tool,
  given: unknown,
  run: RunOperation,
): Promise<ToolResult & { readonly status: number }> {
  const { operation } = tool;
  try {
    authorize(context.principal, operation.access);
    const input = await readInput(operation, context, requestOfCall(tool, given));
    const result = await run(operation, context, input);
    if ("stream" in result) throw new Error(`the tool ${tool.name} answered a stream`);
    const content = [textBlock(JSON.stringify(result.body))];
    return { content, structuredContent: result.body, isError: false, status: operation.status };
  } catch (error) {
    const { code, message, status } = problemOf(error, context.log);
    return { content: [textBlock(`${code}: ${message}`)], isError: true, status };
  }
}

function textBlock(text: string): TextBlock {
  return { type: "text", text };
}
