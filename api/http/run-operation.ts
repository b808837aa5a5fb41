import { finished } from "node:stream";
import type { FastifyReply } from "fastify";
import { abortable } from "../../schemas/clickhouse/abortable.ts";
import type { ClickhouseEditor } from "../../schemas/clickhouse/connect.ts";
import { isClickhouseAway } from "../../schemas/clickhouse/errors.ts";
import { unavailable } from "../operation/errors.ts";
import type {
  Operation,
  OperationInput,
  OperationResult,
  RequestContext,
} from "../operation/operation.ts";
import type { ClickhouseSlots } from "./slots/clickhouse-slots.ts";
import type { SlotHolder } from "./slots/report-slots.ts";
import type { SharedPages } from "./slots/shared-pages.ts";

/** The client closed its connection before the answer. No one would read an answer now. */
export class ClientLeftError extends Error {
  override readonly name = "ClientLeftError";

  constructor(options?: ErrorOptions) {
    super("the client has left", options);
  }
}

/** Runs an operation whose input has been read. */
export type RunOperation = (
  operation: Operation,
  context: RequestContext,
  input: OperationInput,
) => Promise<OperationResult>;

/** Aborted with a {@link ClientLeftError} when the connection closes before the answer is complete. */
export function clientLeft({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  // It may have left while the request was admitted.
  if (raw.destroyed) left.abort(new ClientLeftError());
  raw.once("close", () => {
    if (!raw.writableFinished) left.abort(new ClientLeftError());
  });
  return left.signal;
}

/** How long a client may take nothing of a streamed answer, and how long all of it may take. */
export type StreamLimits = { readonly idleMs: number; readonly totalMs: number };

/** A report of 20 MB arrives in time at 35 kB a second. */
export const STREAM_LIMITS: StreamLimits = { idleMs: 30_000, totalMs: 10 * 60_000 };

/** Closes the connection of a client that is too slow: until the last piece of its answer is handed over, it holds a slot (G205). */
export function limitStream({ raw }: FastifyReply, { idleMs, totalMs }: StreamLimits): void {
  raw.setTimeout(idleMs, () => {
    // If no bytes wait for the client, ClickHouse is slow. It limits its statements itself.
    if (raw.writableLength > 0) raw.destroy();
  });
  const end = setTimeout(() => raw.destroy(), totalMs);
  raw.once("close", () => clearTimeout(end));
}

/**
 * Runs the operations of one request. Operations that read ClickHouse hold a slot until their answer, or the last piece of their
 * stream, is handed over. Their queries end when the client leaves.
 * @throws {ClientLeftError} instead of the error of such a query.
 */
export function operationRunner(
  { slots, pages }: { readonly slots: ClickhouseSlots; readonly pages: SharedPages },
  left: AbortSignal,
): RunOperation {
  return async (operation, context, input) => {
    const { readsClickhouse } = operation;
    const kind =
      typeof readsClickhouse === "function" ? readsClickhouse(input.query) : readsClickhouse;
    if (kind === undefined) return await run(operation, context, input);
    const giveBack = await slots[kind].take(slotHolderOf(context), left);
    let result: OperationResult | undefined;
    try {
      const clickhouse = abortable(context.clickhouse, left);
      const readPage = pages.readerUntil(left);
      result = await run(operation, { ...context, clickhouse, readPage }, input);
    } catch (error) {
      left.throwIfAborted();
      throw error;
    } finally {
      if (result === undefined || !("stream" in result)) giveBack();
      else finished(result.stream, giveBack);
    }
    return result;
  };
}

/** People and keys have ids of their own, so a person counts under the negative one. */
function slotHolderOf({ principal }: RequestContext): SlotHolder {
  if (principal === undefined) throw new Error("a report was reached without a principal");
  const { actor, workspace } = principal;
  return { keyId: actor.kind === "key" ? actor.id : -actor.id, workspaceId: workspace.id };
}

/**
 * Postgres and ClickHouse fail with the same codes of the network, so the client that failed decides which store the refusal names.
 * @throws {ApiError} `unavailable` if ClickHouse is away
 */
async function run(
  operation: Operation,
  context: RequestContext,
  input: OperationInput,
): Promise<OperationResult> {
  const { readPage, trace } = context;
  const traced = async <T>(name: string | undefined, ask: () => Promise<T>): Promise<T> =>
    trace === undefined ? await ask() : await trace.statement(name, ask);
  const faults = new Set<unknown>();
  const note = (error: unknown): never => {
    faults.add(error);
    throw error;
  };
  const clickhouse: ClickhouseEditor = {
    cluster: context.clickhouse.cluster,
    command: async (params) => await context.clickhouse.command(params).catch(note),
    query: async (params) =>
      await traced(statementOf(params), () => context.clickhouse.query(params)).catch(note),
  };
  try {
    return await operation.run(
      {
        ...context,
        clickhouse,
        ...(readPage && {
          readPage: async (statement) =>
            await traced(statement.name, () => readPage(statement)).catch(note),
        }),
      },
      input,
    );
  } catch (error) {
    if (faults.has(error) && isClickhouseAway(error))
      throw unavailable("the store of clicks and reports", error);
    throw error;
  }
}

/** Its name in the server's query log. */
function statementOf({
  clickhouse_settings: given,
}: Pick<Parameters<ClickhouseEditor["query"]>[0], "clickhouse_settings">): string | undefined {
  const name = given?.log_comment;
  return typeof name === "string" ? name : undefined;
}
