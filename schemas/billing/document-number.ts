import type { Queryable } from "../postgres/connect.ts";
import { yearMonthOf } from "../time/calendar.ts";
import { zoneOf } from "../time/zone.ts";

const DIGITS = 4;

export type NumberSeries = {
  readonly kind: "statement" | "invoice" | "credit_note";
  /** `I-{year}-` */
  readonly prefix: string;
  readonly timezone: string;
  readonly atMs: number;
};

/**
 * The next number of a series, without a gap (N49): the series' row stays locked until the transaction ends, and a rollback gives the number
 * back. Each year of the workspace has a series: `I-2026-0001`.
 */
export async function takeNumber(
  tx: Queryable,
  workspaceId: number,
  { kind, prefix, timezone, atMs }: NumberSeries,
): Promise<string> {
  const { year } = yearMonthOf(zoneOf(timezone)?.dayAt(atMs) ?? 0);
  const filled = prefix.replaceAll("{year}", String(year));
  const { rows } = await tx.query<{ last_number: number }>({
    name: "take-document-number",
    text: `insert into billing_series (workspace_id, kind, prefix, last_number) values ($1, $2, $3, 1)
           on conflict (workspace_id, kind, prefix) do update set last_number = billing_series.last_number + 1
           returning last_number`,
    values: [workspaceId, kind, filled],
  });
  return filled + String(rows[0]?.last_number ?? 0).padStart(DIGITS, "0");
}
