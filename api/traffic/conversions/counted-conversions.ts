import { z } from "zod";
import { selectRows } from "../../../schemas/clickhouse/select.ts";
import type { FilterValues } from "../../http/filter-conditions.ts";
import { isDescending } from "../../http/list-order.ts";
import { invalidParameter } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { CountedRows } from "../../reports/counted-rows.ts";
import { type ConversionRow, findConversions } from "./conversions.ts";

const Reference = z.object({ conversion_id: z.string(), at: z.number() });

/** Where a conversion is in the list: its time and id. */
export type ConversionPlace = { readonly at: string; readonly id: string };

/** Filters of the list by the columns that reports have. */
const COLUMNS: Readonly<Record<string, readonly [column: string, type: string]>> = {
  status: ["status", "String"],
  event: ["event_code", "String"],
  click_id: ["click_id", "String"],
  offer_id: ["offer_id", "UInt32"],
  affiliate_id: ["affiliate_id", "UInt32"],
  method: ["method", "String"],
  smart_link_id: ["smart_link_id", "UInt32"],
  advertiser_id: ["advertiser_id", "UInt32"],
  status_reason: ["status_reason", "String"],
  is_duplicate: ["is_duplicate", "Bool"],
};

/**
 * Conversions that a report counts, in the order of the list: ClickHouse says which, Postgres what they are. A conversion whose state has just changed
 * is still where the reports have it.
 */
export async function countedConversions(
  { clickhouse, db, principal }: Pick<OperationContext, "clickhouse" | "db" | "principal">,
  counted: CountedRows,
  page: {
    readonly filters: FilterValues;
    readonly after: ConversionPlace | undefined;
    readonly rowsMax: number;
    readonly sort: string | undefined;
  },
): Promise<{ readonly place: ConversionPlace; readonly row: ConversionRow }[]> {
  const { after, rowsMax, sort = "-conv_ts" } = page;
  const [behind, order] = isDescending(sort) ? ["<", "desc"] : [">", "asc"];
  const where = [...counted.conditions];
  const params: Record<string, unknown> = { ...counted.params, limit: rowsMax };
  for (const [name, value] of Object.entries(page.filters)) {
    if (value === undefined) continue;
    const column = COLUMNS[name];
    if (column === undefined) throw invalidParameter(name, "cannot be combined with filters");
    params[name] = value;
    where.push(`${column[0]} = {${name}:${column[1]}}`);
  }
  if (after !== undefined) {
    params["after"] = Date.parse(after.at);
    params["after_id"] = after.id;
    const at = "fromUnixTimestamp64Milli({after:Int64}, 'UTC')";
    where.push(
      `(conv_ts ${behind} ${at} or (conv_ts = ${at} and toString(id) ${behind} {after_id:String}))`,
    );
  }
  const found = await selectRows(
    clickhouse,
    {
      name: "api.counted-conversions",
      text: `select toString(id) as conversion_id, toUnixTimestamp64Milli(conv_ts) as at from conversion_fact final
        where ${where.join(" and ")}
        order by conv_ts ${order}, conversion_id ${order} limit {limit:UInt32}`,
      params,
    },
    Reference,
  );
  const stored = await findConversions(
    db,
    principal,
    found.map((one) => one.conversion_id),
  );
  const byId = new Map(stored.map((row) => [row.id, row]));
  return found.map(({ conversion_id: id, at }) => {
    const row = byId.get(id);
    // Conversions are never removed, and never change their owners.
    if (row === undefined) throw new Error(`conversion ${id} is in reports only`);
    return { place: { at: new Date(at).toISOString(), id }, row };
  });
}
