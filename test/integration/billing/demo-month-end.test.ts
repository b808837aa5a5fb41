import { expect, test } from "vitest";
import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { dayOf, formatDay, yearMonthOf } from "../../../schemas/time/calendar.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "../api/api-world.ts";
import { runTracker } from "../api/run-tracker.ts";
import { dataOf, rowsOf } from "./billing-world.ts";

const world = await forThisFile(ApiWorld.open());
const Demo = z.looseObject({ keys: z.looseObject({ admin: z.string(), partner: z.string() }) });

/** The first day of a month, counted back from the present one. */
function firstOf(monthsAgo: number): string {
  const { year, month } = yearMonthOf(Math.floor(Date.now() / DAY_MS));
  return formatDay(dayOf(year, month - monthsAgo, 1));
}

test("the month-end of the demo is two closed months, whole and once (N47, N48, N52, N56)", async () => {
  await expect(runTracker(world, "demo", "month-end")).rejects.toThrow(/no workspace demo/);
  const { keys } = Demo.parse(JSON.parse(await runTracker(world, "demo", "--json")));
  const told = await Promise.all([
    runTracker(world, "demo", "month-end"),
    runTracker(world, "demo", "month-end"),
  ]);
  expect(told.toSorted()).toEqual([
    expect.stringContaining("left as it is"),
    expect.stringMatching(/^Two closed months: 14 statements/),
  ]);
  const read = async (path: string) => rowsOf(await world.get(path, keys.admin));
  const statements = await read("/statements");
  const months = statements.map(({ period }) => z.object({ from: z.string() }).parse(period).from);
  expect([...new Set(months)].toSorted()).toEqual([
    `${firstOf(2)}T00:00:00.000Z`,
    `${firstOf(1)}T00:00:00.000Z`,
  ]);
  expect(
    counted(statements, ({ currency, status }) => `${String(currency)} ${String(status)}`),
  ).toEqual({
    "USD paid": 3,
    "USD approved": 2,
    "USD carried": 2,
    "EUR approved": 5,
    "GBP draft": 2,
  });
  const runs = await read("/payout-runs");
  expect(runs).toMatchObject([
    { currency: "EUR", status: "draft", line_count: 2, held_count: 1, format: "pain001" },
    { currency: "USD", status: "paid", line_count: 3, paid_count: 3, total: "1819.6500" },
  ]);
  const open = dataOf(await world.get(`/payout-runs/${String(runs[0]?.["id"])}`, keys.admin));
  expect(open["held"]).toMatchObject([
    { affiliate_code: "DEMODANA", reason: "details missing", amount: "310.8000" },
  ]);
  const kinds = counted(await read("/adjustments"), ({ kind }) => String(kind));
  expect(kinds).toEqual({ opening: 14, bonus: 2, deduction: 1, bounty: 1 });
  expect(await read("/balances")).toMatchObject([
    { currency: "EUR", approved_unpaid: "720.5500", carried: "0.0050", paid_total: "0.0000" },
    { currency: "USD", approved_unpaid: "1488.2500", unbilled: "25.0000", paid_total: "1240.5000" },
    { currency: "EUR" },
    { currency: "USD", approved_unpaid: "476.0000", paid_total: "486.7500" },
    { currency: "GBP", draft: "135.6200", unbilled: "15.0000" },
    { currency: "USD", paid_total: "92.4000" },
    { currency: "EUR", approved_unpaid: "310.8000" },
    { currency: "USD", carried: "40.2000" },
  ]);
  expect(dataOf(await world.get("/billing/audit", keys.admin))["violations"]).toEqual([]);
  // What the partner sees is its own, approved.
  expect(rowsOf(await world.get("/me/statements", keys.partner))).toHaveLength(4);
});

test("a time that is set is the demo's, ends with its transaction, and none is ahead of the clock (N38)", async () => {
  const [demo] = await world.rows<{ id: number }>("select id from workspace where slug = 'demo'");
  const clockAfter = async (at: string, workspaceId = demo?.id): Promise<number> =>
    await inTransaction(world.pool, async (tx) => {
      await tx.query({ text: "select set_config('tracker.books_at', $1, true)", values: [at] });
      const { rows } = await tx.query<{ at: string }>({
        text: "select ledger_clock($1) as at",
        values: [workspaceId],
      });
      return Date.parse(rows[0]?.at ?? "");
    });
  const past = Date.now() - DAY_MS;
  expect(await clockAfter(new Date(past).toISOString())).toBe(past);
  const ofOther = await clockAfter(new Date(past).toISOString(), world.tenant.workspaceId);
  expect(ofOther).toBeGreaterThan(past + DAY_MS / 2);
  const ahead = await clockAfter(new Date(Date.now() + DAY_MS).toISOString());
  expect(ahead).toBeLessThan(Date.now() + DAY_MS / 2);
  const clocks = Array.from({ length: 8 }, async () => {
    const [row] = await world.rows<{ at: string }>("select ledger_clock($1) as at", [demo?.id]);
    return Date.parse(row?.at ?? "") > past + DAY_MS / 2;
  });
  expect(await Promise.all(clocks)).not.toContain(false);
});

function counted(
  rows: readonly Record<string, unknown>[],
  nameOf: (row: Record<string, unknown>) => string,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) counts[nameOf(row)] = (counts[nameOf(row)] ?? 0) + 1;
  return counts;
}
