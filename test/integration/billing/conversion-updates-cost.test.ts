import { expect, test } from "vitest";
import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "../api/api-world.ts";
import { UpdateCalls } from "./update-calls.ts";

const world = await forThisFile(ApiWorld.open());
const calls = new UpdateCalls(world, world.tenant);
const offer = await world.offer();
await world.rows(
  "insert into billing_settings (workspace_id, enabled, starts_on) values ($1, true, '2026-01-01')",
  [world.tenant.workspaceId],
);

/** Tables of settings, which are the same for all rows of a file. */
const SETTINGS = ["billing_settings", "webhook"];
/** Billing, and the webhooks for each of two events. */
const SCANS_OF_SETTINGS = 3;
/** To lock a conversion, to compare it with the check, to find its new state and to store that. */
const READS_PER_ROW_MAX = 5;

/** To find its conversion, to store that, to check it, to find another row of the same conversion, and to store the result; each as two versions. */
const ROWS_OF_FILE_PER_ROW_MAX = 12;

const Cost = z.array(
  z.object({ relname: z.string(), scans: z.int(), read: z.int(), updated: z.int() }),
);
type Cost = Readonly<Record<"scansOfSettings" | "conversionsRead" | "conversionsChanged", number>>;

/** What the steps of a phase cost until none of its rows is left. */
async function costOf(id: number, status: "applying" | "undoing"): Promise<Cost> {
  await world.rows("analyze conversion, conversion_update_row");
  return await inTransaction(world.pool, async (db) => {
    await db.query({
      text: `update conversion_update
             set status = $2, position = 0, applied_at = coalesce(applied_at, clock_timestamp()) where id = $1`,
      values: [id, status],
    });
    const before = await counted(db);
    await db.query({ text: "select step_conversion_update($1, 500)", values: [id] });
    const after = await counted(db);
    await db.query({ text: "select step_conversion_update($1, 500)", values: [id] });
    return {
      scansOfSettings: after.scansOfSettings - before.scansOfSettings,
      conversionsRead: after.conversionsRead - before.conversionsRead,
      conversionsChanged: after.conversionsChanged - before.conversionsChanged,
    };
  });
}

async function counted(db: Queryable): Promise<Cost> {
  const { rows } = await db.query({
    text: `select relname::text, (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::integer as scans,
             (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as read, n_tup_upd::integer as updated
           from pg_stat_xact_user_tables where relname = any ($1)`,
    values: [["conversion", ...SETTINGS]],
  });
  const tables = Cost.parse(rows);
  const conversion = tables.find(({ relname }) => relname === "conversion");
  return {
    scansOfSettings: tables
      .filter(({ relname }) => SETTINGS.includes(relname))
      .reduce((sum, { scans }) => sum + scans, 0),
    conversionsRead: conversion?.read ?? 0,
    conversionsChanged: conversion?.updated ?? 0,
  };
}

test.each([10, 400])(
  "%i rows are applied and undone by one look at the settings, and each is written once (N129)",
  async (count) => {
    const held = { status: "pending", hold_until: "2100-01-01T00:00:00Z" };
    const ids = await calls.insertConversions(offer.id, `C${count}`, { count, ...held });
    const checked = await calls.checked(
      `conversion_id,status,sale_amount\n${ids.map((id) => `${id},approved,90\n`).join("")}`,
    );
    expect(checked.counts).toMatchObject({ changed: count });
    for (const phase of ["applying", "undoing"] as const) {
      const cost = await costOf(checked.id, phase);
      expect(cost).toMatchObject({ scansOfSettings: SCANS_OF_SETTINGS, conversionsChanged: count });
      expect(cost.conversionsRead).toBeLessThanOrEqual(READS_PER_ROW_MAX * count);
    }
    expect(await calls.get(checked.id)).toMatchObject({ status: "undone" });
    const [history] = await world.rows<{ rows: number; queued: number }>(
      `select count(*)::integer as rows, count(o.history_id)::integer as queued
       from conversion_history h left join ledger_outbox o on o.history_id = h.id where h.conversion_id = any ($1::uuid[])`,
      [ids],
    );
    expect(history).toEqual({ rows: 2 * count, queued: 2 * count });
  },
);

test("a file is checked without reading its other rows, also the first after others were counted (N129)", async () => {
  const count = 400;
  const content = async (prefix: string): Promise<string> => {
    const ids = await calls.insertConversions(offer.id, prefix, { count });
    return `conversion_id,status\n${ids.map((id) => `${id},approved\n`).join("")}`;
  };
  await calls.checked(await content("first"));
  // Now the statistics say that all rows are of that file.
  await world.rows("analyze conversion, conversion_update_row");
  const { id } = await calls.checked(await content("second"));
  const read = await inTransaction(world.pool, async (db) => {
    await db.query({
      text: "update conversion_update set status = 'checking', position = 0 where id = $1",
      values: [id],
    });
    await db.query({
      text: "update conversion_update_row set outcome = null, conversion_id = null where update_id = $1",
      values: [id],
    });
    const before = await rowsOfFilesRead(db);
    await db.query({ text: "select step_conversion_update($1, 500)", values: [id] });
    return (await rowsOfFilesRead(db)) - before;
  });
  expect(read).toBeLessThan(ROWS_OF_FILE_PER_ROW_MAX * count);
  expect(await calls.settled(id)).toMatchObject({ status: "checked", counts: { changed: count } });
});

async function rowsOfFilesRead(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ read: number }>({
    text: `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as read
           from pg_stat_xact_user_tables where relname = 'conversion_update_row'`,
  });
  return rows[0]?.read ?? 0;
}
