import type { ClickHouseClient, DataFormat, QueryParams } from "@clickhouse/client";
import { within } from "../host/within.ts";
import { NETWORK_CODES } from "../net/network-codes.ts";
import { lacksDatabase } from "./errors.ts";

/** What we use of a client. */
export type ClientMethods = Pick<
  ClickHouseClient,
  "query" | "command" | "insert" | "exec" | "ping" | "close"
>;

/** A node that does not answer a ping in this time is left: it may be frozen. */
const PING_MS_MAX = 2_000;

/**
 * One client for several nodes of a cluster. It asks one node until that node cannot be reached, or does not answer a ping, and then the next one.
 * Queries are repeated there; whether another statement ran is unknown, so its caller decides.
 */
export function failingOver(
  clients: readonly [ClickHouseClient, ...ClickHouseClient[]],
): ClientMethods {
  let at = 0;
  const current = (): ClickHouseClient => clients[at] ?? clients[0];
  const leave = (client: ClickHouseClient): void => {
    if (client === current()) at = (at + 1) % clients.length;
  };
  const ask = async <Answer>(
    statement: (client: ClickHouseClient) => Promise<Answer>,
  ): Promise<Answer> => {
    const client = current();
    try {
      return await statement(client);
    } catch (error) {
      if (isUnreachable(error)) leave(client);
      throw error;
    }
  };
  return {
    query: async <Format extends DataFormat = "JSON">(
      params: QueryParams & { readonly format?: Format },
    ) => {
      const query = async (client: ClickHouseClient) => await client.query<Format>(params);
      for (let left = clients.length; left > 1; left -= 1) {
        try {
          return await ask(query);
        } catch (error) {
          if (!isUnreachable(error)) throw error;
        }
      }
      return await ask(query);
    },
    command: async (params) => await ask((client) => client.command(params)),
    insert: async (params) => await ask((client) => client.insert(params)),
    exec: async (params) => await ask((client) => client.exec(params)),
    ping: async (params) => {
      const client = current();
      const answer = await within(PING_MS_MAX, client.ping(params));
      if (answer !== "late" && answer.success) return answer;
      leave(client);
      return answer === "late"
        ? { success: false, error: new Error(`no answer within ${PING_MS_MAX} ms`) }
        : answer;
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** The statement may have reached the node or not. A node that was emptied is of no use until `tracker migrate` has made its tables. */
function isUnreachable(error: unknown): boolean {
  if (lacksDatabase(error)) return true;
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string" && NETWORK_CODES.has(error.code))
    return true;
  return error.message.startsWith("socket hang up");
}
