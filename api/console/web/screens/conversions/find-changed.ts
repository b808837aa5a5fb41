import type { Api } from "../../client/api-client.ts";
import { read } from "../../client/api-client.ts";
import { Problem } from "../../client/problem.ts";
import type { RoleFigures } from "../../figures/role-figures.ts";
import type { SkippedRow } from "../../records/send-rows.ts";
import { partsOf } from "../../records/send-rows.ts";
import { amountOf, type Conversion } from "./conversion.ts";

type Amounts = RoleFigures["amounts"];

/** Up to so many rows are read one by one; more are sought in the list of their status first. */
const FEW = 20;
const AT_ONCE = 10;
const PAGE = 500;
/** Between chosen rows may be many that nobody has chosen. */
const PAGES_MAX = 20;
const SECOND_MS = 1_000;

/** Rows that are no longer as they were shown: a colleague or a postback has changed them, and nobody has decided about that. */
export async function findChanged(
  api: Api,
  rows: readonly Conversion[],
  amounts: Amounts,
): Promise<readonly SkippedRow[]> {
  const same = rows.length <= FEW ? new Set<string>() : await findSame(api, rows, amounts);
  const others = rows.filter(({ id }) => !same.has(id));
  const changed: SkippedRow[] = [];
  for (const part of partsOf(others, AT_ONCE)) {
    const found = await Promise.all(part.map(async (row) => await changeOf(api, row, amounts)));
    changed.push(...found.filter((one) => one !== undefined));
  }
  return changed;
}

async function changeOf(
  api: Api,
  row: Conversion,
  amounts: Amounts,
): Promise<SkippedRow | undefined> {
  const told = { key: row.id, name: row.id };
  try {
    const { data } = await read(api.GET("/conversions/{id}", { params: { path: { id: row.id } } }));
    if (isSame(data, row, amounts)) return undefined;
    const why =
      data.status === row.status
        ? "was changed meanwhile: look at it again"
        : `was changed meanwhile: it is ${data.status} now`;
    return { ...told, why };
  } catch (error) {
    if (error instanceof Problem && error.status === 404)
      return { ...told, why: "is no longer there" };
    throw error;
  }
}

/** The rows that the lists of their statuses show unchanged. */
async function findSame(
  api: Api,
  rows: readonly Conversion[],
  amounts: Amounts,
): Promise<ReadonlySet<string>> {
  const same = new Set<string>();
  for (const status of new Set(rows.map((row) => row.status))) {
    const shown = new Map(rows.filter((row) => row.status === status).map((row) => [row.id, row]));
    const times = [...shown.values()].map((row) => Date.parse(row.conv_ts));
    const query = {
      status,
      from: new Date(Math.min(...times) - SECOND_MS).toISOString(),
      to: new Date(Math.max(...times) + SECOND_MS).toISOString(),
      limit: PAGE,
    };
    let cursor: string | null | undefined;
    for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
      const more = cursor === undefined ? {} : { cursor };
      const answer = await read(
        api.GET("/conversions", { params: { query: { ...query, ...more } } }),
      );
      for (const row of answer.data) {
        const before = shown.get(row.id);
        if (before !== undefined && isSame(row, before, amounts)) same.add(row.id);
      }
      cursor = answer.next_cursor;
    }
  }
  return same;
}

/** Whether a decision about one is a decision about the other: same status, same money. */
function isSame(now: Conversion, before: Conversion, amounts: Amounts): boolean {
  return (
    now.status === before.status &&
    now.status_reason === before.status_reason &&
    now.sale_amount === before.sale_amount &&
    amounts.every(([name]) => amountOf(now, name) === amountOf(before, name))
  );
}
