import type { FastifyRequest } from "fastify";
import type { ClickhouseEditor } from "../../schemas/clickhouse/connect.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { ApiKeys } from "../access/api-keys.ts";
import type { ClickTotalsFeed } from "../cap-usage/click-totals.ts";
import type { OperationContext, OperationSettings } from "../operation.ts";
import type { ClickhouseSlots } from "../reports/clickhouse-slots.ts";
import type { SharedPages } from "../reports/shared-pages.ts";
import type { Admission } from "./admission.ts";
import type { Cursors } from "./cursor.ts";

/** What REST and MCP give operations in addition to the request. */
export type OperationParts = {
  readonly db: Pool;
  readonly clickhouse: ClickhouseEditor;
  readonly slots: ClickhouseSlots;
  readonly pages: SharedPages;
  readonly nats: () => Nats | undefined;
  readonly clickTotals: ClickTotalsFeed;
  readonly outgoing: OutgoingClient;
  readonly cursors: Cursors;
  readonly log: Log;
  readonly settings: OperationSettings;
};

/** The context for the operations of one request. */
export function contextOf(
  parts: OperationParts,
  { admission, trace }: Pick<FastifyRequest, "admission" | "trace">,
): OperationContext {
  // Requests without a principal were refused earlier.
  if (admission?.principal === undefined)
    throw new Error("an operation was reached without a principal");
  const { principal, requestId, nowMs, ip, rate } = admission;
  return {
    principal,
    workspace: principal.workspace,
    db: parts.db,
    clickhouse: parts.clickhouse,
    nats: parts.nats(),
    clickTotals: parts.clickTotals,
    outgoing: parts.outgoing,
    cursors: parts.cursors,
    log: parts.log.child({ request_id: requestId }),
    requestId,
    trace,
    nowMs,
    clientIp: ip,
    rate,
    settings: parts.settings,
  };
}

/** Records when the key was last used, without delaying the request. */
export function noteUse(
  { keys, log }: { readonly keys: ApiKeys; readonly log: Log },
  { principal, nowMs }: Admission,
): void {
  if (principal === undefined) return;
  const { keyId } = principal;
  keys.noteUse(keyId, nowMs).catch((error: unknown) => {
    log.warn({ err: error, keyId }, "key.use-not-noted");
  });
}
