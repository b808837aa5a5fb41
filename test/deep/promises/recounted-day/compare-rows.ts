import { z } from "zod";
import type { Pool } from "../../../../schemas/postgres/connect.ts";
import { differing } from "../../../replay/differing.ts";
import { words } from "../../../samples/words.ts";
import { pause, type ServiceClient } from "../../../system/service.ts";
import { decimal } from "./money.ts";
import { partnerOf, type Recounted, shopOf } from "./recount-day.ts";
import type { Row } from "./row.ts";

const PAGES_MAX = 500;
const TRIES_MAX = 240;

const Shown = z.looseObject({
  id: z.string(),
  click_id: z.string(),
  offer_id: z.int(),
  event_code: z.string(),
  status: z.string(),
  status_reason: z.string(),
  is_duplicate: z.boolean(),
  sale_amount: z.string(),
  currency: z.string(),
  method: z.string(),
  conv_ts: z.string(),
});
type Shown = z.infer<typeof Shown>;
const Page = z.object({ data: z.array(Shown), next_cursor: z.string().nullable() });

/** Fields that a list does not show to that role. */
const HIDDEN = {
  admin: [],
  partner: ["revenue", "advertiser_id", "adv_txid", "params", "notes", "conv_ip"],
  advertiser: words(
    "payout affiliate_code affiliate_name source_id conv_ip notes sub1 sub2 sub3 sub4 sub5",
  ),
} as const;
export type Role = keyof typeof HIDDEN;

export function isVisible(day: Recounted, row: Row, role: Role): boolean {
  if (role === "admin") return true;
  if (role === "advertiser") return shopOf(day, row).advertiser === "own";
  return row.partner === 0 && row.event.is_private !== true;
}

/** Reads a page of the API, and waits while the minute's rate limit is used up. */
export async function readText(client: ServiceClient, path: string, role: Role): Promise<string> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await client.attempt(`${client.demo.base_url}${path}`, {
      authorization: `Bearer ${client.demo.keys[role]}`,
    });
    if (answer.status === 200) return answer.body;
    if (answer.status !== 429 && answer.status < 500)
      throw new Error(`GET ${path} as ${role}: HTTP ${answer.status} ${answer.body}`);
    await pause(250);
  }
  throw new Error(`GET ${path}: no answer`);
}

export async function readList(
  client: ServiceClient,
  role: Role,
  filter: Readonly<Record<string, string>> = {},
): Promise<Shown[]> {
  const rows: Shown[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = new URLSearchParams({
      limit: "500",
      ...filter,
      ...(cursor === null ? {} : { cursor }),
    });
    const answer = Page.parse(JSON.parse(await readText(client, `/conversions?${query}`, role)));
    rows.push(...answer.data);
    cursor = answer.next_cursor;
    if (cursor === null) return rows;
  }
  throw new Error(`more than ${PAGES_MAX} pages of conversions`);
}

/** Gives rows without an answered id, such as rows of pixels, the ids of the matching stored rows. */
export function nameRows(day: Recounted, stored: readonly Shown[]): void {
  const known = new Set(day.rows.map(({ id }) => id));
  const nameless = day.rows.filter(({ id }) => id === "");
  for (const one of stored.filter(({ id }) => !known.has(id))) {
    const convertedAtMs = Date.parse(one.conv_ts);
    const isSame = (row: Row): boolean =>
      row.entry.sentAtMs <= convertedAtMs &&
      convertedAtMs <= row.entry.answeredAtMs &&
      shopOf(day, row).id === one.offer_id &&
      row.txid === one["adv_txid"] &&
      row.event.code === one.event_code &&
      (row.click === one.click_id || row.click === "");
    const at = nameless.findIndex((row) => isSame(row) && row.isDuplicate === one.is_duplicate);
    const [found] = at < 0 ? [] : nameless.splice(at, 1);
    if (found !== undefined) {
      found.id = one.id;
      continue;
    }
    // Further unanswered attempts may each have left a repeat.
    const repeated = day.rows.find((row) => row.entry.lost > 0 && isSame(row));
    if (repeated === undefined || !one.is_duplicate) continue;
    const repeat = { status: "rejected", reason: "duplicate", isDuplicate: true } as const;
    const flags = { isHeld: false, isAlerted: false };
    day.rows.push({ ...repeated, ...repeat, ...repeated.reported, ...flags, id: one.id });
  }
}

export async function listDifferences(day: Recounted, client: ServiceClient): Promise<string[]> {
  const differences: string[] = [];
  for (const role of ["admin", "partner", "advertiser"] as const) {
    const stored = await readList(client, role);
    const wanted = day.rows.filter((row) => isVisible(day, row, role));
    const byId = new Map(stored.map((row) => [row.id, row]));
    differences.push(
      ...differing(`list of ${role}`, [
        ["its length", stored.length, wanted.length],
        ["different ids", byId.size, wanted.length],
        ["newest first", isNewestFirst(stored), true],
      ]),
      ...wanted.flatMap((row) => shownDifferences(day, row, byId.get(row.id), role)),
    );
    for (const status of ["approved", "pending", "rejected"]) {
      const some = await readList(client, role, { status });
      differences.push(
        ...differing(`list of ${role}, ${status}`, [
          ["its length", some.length, wanted.filter((row) => row.status === status).length],
        ]),
      );
    }
  }
  return differences;
}

function isNewestFirst(rows: readonly Shown[]): boolean {
  return rows.every((row, at) => at === 0 || (rows[at - 1]?.conv_ts ?? "") >= row.conv_ts);
}

function shownDifferences(
  day: Recounted,
  row: Row,
  stored: Shown | undefined,
  role: Role,
): string[] {
  const where = `${role} sees conversion ${row.id} of entry ${row.entry.number} (${shopOf(day, row).name})`;
  if (stored === undefined) return [`${where}: no such row`];
  const convertedAtMs = Date.parse(stored.conv_ts);
  const optional = {
    payout: decimal(row.payout),
    revenue: decimal(row.revenue),
    adv_txid: row.txid,
    affiliate_code: partnerOf(day, row).code,
  };
  const isCoupon = row.entry.action.kind === "report" && "coupon_code" in row.entry.action.params;
  return differing(where, [
    ["offer_id", stored.offer_id, shopOf(day, row).id],
    ["event_code", stored.event_code, row.event.code],
    ["status", stored.status, row.status],
    ["status_reason", stored.status_reason, row.reason],
    ["is_duplicate", stored.is_duplicate, row.isDuplicate],
    ["sale_amount", stored.sale_amount, decimal(row.sale)],
    ["currency", stored.currency, row.currency],
    ["method", stored.method, row.method],
    ["ms before it was sent", Math.max(0, row.entry.sentAtMs - convertedAtMs), 0],
    ["ms after its answer", Math.max(0, convertedAtMs - row.entry.answeredAtMs), 0],
    ...(isCoupon ? [] : [["click_id", stored.click_id, row.click] as const]),
    ...Object.entries(optional).map(([name, own]) => {
      const isHidden = HIDDEN[role].some((hidden) => hidden === name);
      return [name, String(stored[name]), isHidden ? "undefined" : own] as const;
    }),
    ...HIDDEN[role].map((name) => [`${name} is there`, name in stored, false] as const),
  ]);
}

/** Compares row by row, and the sums by day, offer, partner, advertiser and status that the database computes. */
export async function databaseDifferences(day: Recounted, pool: Pool): Promise<string[]> {
  type Stored = Record<"id" | "kept", string>;
  const { rows } = await pool.query<Stored>({
    text: `select id, concat_ws('|', status, status_reason, is_duplicate, cap_alert, sale_amount, payout, revenue, currency,
             offer_id, affiliate_id, event_code, adv_txid, method, hold_until is not null) as kept from conversion`,
  });
  const flag = (is: boolean): string => (is ? "t" : "f");
  const byId = new Map(rows.map(({ id, kept }) => [id, kept]));
  const sums = await pool.query<{ key: string; sums: string }>({
    text: `select concat_ws('|', (conv_ts at time zone 'UTC')::date, offer_id, affiliate_id, advertiser_id, status) as key,
             concat_ws('|', count(*), sum(sale_amount), sum(payout), sum(revenue)) as sums
           from conversion group by (conv_ts at time zone 'UTC')::date, offer_id, affiliate_id, advertiser_id, status`,
  });
  const days = await pool.query<{ id: string; day: string; advertiser: number }>({
    text: "select id, (conv_ts at time zone 'UTC')::date::text as day, advertiser_id as advertiser from conversion",
  });
  const dayOf = new Map(days.rows.map(({ id, day: on, advertiser }) => [id, { on, advertiser }]));
  const own = new Map<string, { count: number; sale: bigint; payout: bigint; revenue: bigint }>();
  for (const row of day.rows) {
    const { on, advertiser } = dayOf.get(row.id) ?? { on: "", advertiser: 0 };
    const key = [on, shopOf(day, row).id, partnerOf(day, row).id, advertiser, row.status].join("|");
    const sum = own.get(key) ?? { count: 0, sale: 0n, payout: 0n, revenue: 0n };
    own.set(key, {
      count: sum.count + 1,
      sale: sum.sale + row.sale,
      payout: sum.payout + row.payout,
      revenue: sum.revenue + row.revenue,
    });
  }
  return [
    ...differing("Postgres", [
      ["its rows", rows.length, day.rows.length],
      ["its groups", sums.rows.length, own.size],
    ]),
    ...day.rows.flatMap((row) =>
      differing(`Postgres, conversion ${row.id} of entry ${row.entry.number}`, [
        [
          "row",
          byId.get(row.id) ?? "",
          [
            row.status,
            row.reason,
            flag(row.isDuplicate),
            flag(row.isAlerted),
            decimal(row.sale),
            decimal(row.payout),
            decimal(row.revenue),
            row.currency,
            shopOf(day, row).id,
            partnerOf(day, row).id,
            row.event.code,
            ...(row.txid === "" ? [] : [row.txid]),
            row.method,
            "f",
          ].join("|"),
        ],
      ]),
    ),
    ...sums.rows.flatMap(({ key, sums: stored }) => {
      const sum = own.get(key) ?? { count: 0, sale: 0n, payout: 0n, revenue: 0n };
      const amounts = [sum.sale, sum.payout, sum.revenue].map(decimal);
      return differing("Postgres", [[`sums of ${key}`, stored, [sum.count, ...amounts].join("|")]]);
    }),
  ];
}
