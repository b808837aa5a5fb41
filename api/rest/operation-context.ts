import type { ClickhouseEditor } from "../../schemas/clickhouse/connect.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { ApiKeys } from "../access/api-keys.ts";
import type { OperationContext, OperationSettings } from "../operation.ts";
import type { ClickhouseSlots } from "../reports/clickhouse-slots.ts";
import type { Admission } from "./admission.ts";
import type { Cursors } from "./cursor.ts";

/** What operations are given besides the request, by REST and by MCP. */
export type OperationParts = {
  readonly db: Pool;
  readonly clickhouse: ClickhouseEditor;
  readonly slots: ClickhouseSlots;
  readonly nats: () => Nats | undefined;
  readonly outgoing: OutgoingClient;
  readonly cursors: Cursors;
  readonly log: Log;
  readonly settings: OperationSettings;
};

/** What the operations of one request run with. */
export function contextOf(
  parts: OperationParts,
  admission: Admission | undefined,
): OperationContext {
  // Every request without a principal was refused before.
  if (admission?.principal === undefined)
    throw new Error("an operation was reached without a principal");
  const { principal, requestId, nowMs, ip, rate } = admission;
  return {
    principal,
    workspace: principal.workspace,
    db: parts.db,
    clickhouse: parts.clickhouse,
    nats: parts.nats(),
    outgoing: parts.outgoing,
    cursors: parts.cursors,
    log: parts.log.child({ requestId }),
    requestId,
    nowMs,
    clientIp: ip,
    rate,
    settings: parts.settings,
  };
}

/** Keeps when the key was last used; the request does not wait for it. */
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
