import { setTimeout } from "node:timers/promises";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { renewIncarnation } from "../../schemas/installation/incarnation.ts";
import { readClickhouseMark, readPostgresMark } from "../../schemas/installation/store-marks.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { CommandError } from "./command-error.ts";
import { noteInAllWorkspaces } from "./note-in-all-workspaces.ts";

/** Somewhat longer than two beats of a running installation. */
const OBSERVED_MS = 12_000;
const DELIVERIES_PER_STATEMENT = 5_000;
const PARTS_PER_STATEMENT = 200;
const CANCELLED = "cancelled: this installation is a copy";

export type CloneReset = {
  readonly incarnation: string;
  readonly natsPrefix: string;
  readonly postbacks: number;
  readonly webhooks: number;
  readonly deliveries: number;
  readonly imports: number;
  readonly keys: number;
  readonly tokens: number;
};

/**
 * Makes a copy of an installation independent: see `tracker help clone-reset`. Endpoints are off before the incarnation changes, and no process
 * starts until it has. Safe to run twice.
 *
 * @throws {CommandError} if the ClickHouse is in use by another Postgres.
 */
export async function resetClone(db: Pool, clickhouse: Clickhouse): Promise<CloneReset> {
  await refuseUsedClickhouse(clickhouse);
  // They are processes of the original.
  await db.query({ name: "clone-forget-processes", text: "delete from system_process" });
  const changed = await inTransaction(db, async (tx) => ({
    postbacks: await countChanges(tx, {
      name: "clone-pause-postbacks",
      text: "update postback set status = 'paused', updated_at = now() where status = 'active'",
    }),
    webhooks: await countChanges(tx, {
      name: "clone-pause-webhooks",
      text: "update webhook set active = false, updated_at = now() where active",
    }),
    keys: await countChanges(tx, {
      name: "clone-revoke-keys",
      text: "update api_key set revoked_at = now() where revoked_at is null",
    }),
    tokens: await replaceTokens(tx),
  }));
  const deliveries = await cancelDeliveries(db);
  await dropMails(db);
  const imports = await dropImports(db);
  const { life } = await readPostgresMark(db);
  const incarnation = await renewIncarnation(db, { clickhouse, streams: undefined }, life);
  await noteInAllWorkspaces(db, "cli clone-reset");
  return {
    ...changed,
    deliveries,
    imports,
    incarnation,
    natsPrefix: `clone-${incarnation.slice(0, 8)}`,
  };
}

/** No process of the copy runs, so a mark that changes is written by another Postgres. */
async function refuseUsedClickhouse(clickhouse: Clickhouse): Promise<void> {
  const before = await readClickhouseMark(clickhouse);
  if (before === undefined) return;
  await setTimeout(OBSERVED_MS);
  const after = await readClickhouseMark(clickhouse);
  if (after?.beat === before.beat && after.incarnation === before.incarnation) return;
  throw new CommandError(
    "Nothing was changed: another Postgres uses this ClickHouse. Give the copy a ClickHouse of its own, then run it again.",
  );
}

async function countChanges(
  tx: Queryable,
  statement: { readonly name: string; readonly text: string },
): Promise<number> {
  return (await tx.query(statement)).rowCount ?? 0;
}

/** New random tokens in the forms of the old ones. */
async function replaceTokens(tx: Queryable): Promise<number> {
  const workspaces = await countChanges(tx, {
    name: "clone-workspace-tokens",
    text: `update workspace set updated_at = now(),
             postback_token = left(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'hex'), 32)`,
  });
  const advertisers = await countChanges(tx, {
    name: "clone-advertiser-tokens",
    text: `update advertiser set updated_at = now(),
             postback_token = left(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'hex'), 32)`,
  });
  await countChanges(tx, {
    name: "clone-old-tokens",
    text: "delete from advertiser_old_token",
  });
  const webhooks = await countChanges(tx, {
    name: "clone-webhook-secrets",
    text: `update webhook set updated_at = now(),
             secret = 'whsec_' || left(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'hex'), 48)`,
  });
  return workspaces + advertisers + webhooks;
}

/** The original sends them. */
async function dropMails(db: Queryable): Promise<void> {
  await db.query({ name: "clone-drop-mails", text: "delete from mail_outbox" });
}

/** A few thousand at a time, because a statement must end within seconds. */
async function cancelDeliveries(db: Queryable): Promise<number> {
  let cancelled = 0;
  for (;;) {
    const { rowCount } = await db.query({
      name: "clone-cancel-deliveries",
      text: `update delivery set due_at = null, lease_token = null, status = 'failed', error = $1, finished_at = clock_timestamp()
             where id = any(array(select d.id from delivery d where d.due_at is not null limit $2))`,
      values: [CANCELLED, DELIVERIES_PER_STATEMENT],
    });
    cancelled += rowCount ?? 0;
    if (rowCount === 0) return cancelled;
  }
}

/** The original carries them out. Files are deleted in pieces, because a statement must end within seconds. */
async function dropImports(db: Queryable): Promise<number> {
  await db.query({
    name: "clone-drop-uploads",
    text: "delete from import where status = 'uploading'",
  });
  const { rowCount } = await db.query({
    name: "clone-drop-imports",
    text: `update import set status = 'stopped', message = $1, ended_at = clock_timestamp(), lease_token = null, leased_until = null
           where ended_at is null`,
    values: [CANCELLED],
  });
  for (;;) {
    const { rowCount: parts } = await db.query({
      name: "clone-drop-import-parts",
      text: `delete from import_part where (import_id, number) in (select import_id, number from import_part limit $1)`,
      values: [PARTS_PER_STATEMENT],
    });
    if (parts === 0) return rowCount ?? 0;
  }
}
