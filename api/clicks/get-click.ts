import { z } from "zod";
import { parseClickId } from "../../schemas/ids/click-id.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { everybody } from "../access/access-of-operations.ts";
import type { Role } from "../access/permissions.ts";
import { showTo } from "../access/visibility.ts";
import { notFound } from "../errors.ts";
import {
  anonymousPartner,
  type EntityLabel,
  labelOf,
  readLabels,
} from "../labels/entity-labels.ts";
import { type Operation, operation } from "../operation.ts";
import { reportScope } from "../reports/caller.ts";
import type { ReportRole, ReportScope } from "../reports/report-scope.ts";
import { type ClickColumn, isoTime, type StoredClick } from "./click-row.ts";
import { findClick } from "./find-click.ts";

const CONVERSIONS_MAX = 1_000;

const FRAUD_SIGNS = [
  ...(["ip", "visitor", "user_agent", "asn", "as_name", "is_bot", "is_datacenter"] as const),
  ...(["is_proxy", "is_headless", "missing_ua"] as const),
] as const satisfies readonly ClickColumn[];
const SUBS = [
  "sub1",
  "sub2",
  "sub3",
  "sub4",
  "sub5",
  "sub6",
  "sub7",
  "sub8",
  "sub9",
  "sub10",
] as const;

/** Besides what the list hides: the address, what tells fraud (G84), and the money of the other side. */
const HIDDEN: Readonly<Record<ReportRole, ReadonlySet<string>>> = {
  staff: new Set(),
  partner: new Set([...FRAUD_SIGNS, "destination", "advertiser_id", "click_revenue"]),
  // A referrer is a page of the partner, and may name him.
  advertiser: new Set([
    ...FRAUD_SIGNS,
    ...SUBS,
    "source_id",
    "smart_link_id",
    "click_payout",
    "referrer",
  ]),
};

const named = z.object({ id: z.int(), label: z.string(), sub: z.string() });
const ClickDetail = z.object({
  click: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  extra: z.record(z.string(), z.string()),
  offer: named,
  affiliate: named,
  conversions: z.array(z.record(z.string(), z.union([z.string(), z.boolean()]))),
});

export const getClick: Operation = operation({
  name: "getClick",
  method: "GET",
  path: "/clicks/{click_id}",
  tag: "Clicks",
  summary: "One click with its conversions",
  access: everybody("clicks.read"),
  input: { path: z.object({ click_id: z.string() }) },
  output: z.object({ data: ClickDetail }),
  status: 200,
  run: async (context, { path }) => {
    const clickId = parseClickId(path.click_id);
    if (clickId === undefined) throw notFound("click");
    const scope = reportScope(context.principal);
    const click = await findClick(context, scope, clickId);
    if (click === undefined) throw notFound("click");
    const { workspaceId } = scope;
    const offers = await readLabels(context.db, "offer", { workspaceId, ids: [click.offer_id] });
    const conversions = await selectConversions(context.db, scope, clickId);
    const { role } = context.principal;
    const detail: z.input<typeof ClickDetail> = {
      click: shownColumns(click, scope.role),
      // Parameters that map to no column are the partner's, sub IDs of his among them.
      extra: scope.role === "advertiser" ? {} : readExtra(click.extra),
      offer: { id: click.offer_id, ...labelOf(offers, click.offer_id) },
      affiliate: { id: click.affiliate_id, ...(await partnerLabel(context.db, scope, click)) },
      conversions: conversions.map((row) => shownConversion(row, role)),
    };
    return { body: { data: detail } };
  },
});

function shownColumns(
  click: StoredClick,
  role: ReportRole,
): Record<string, string | number | boolean> {
  const shown = Object.entries({ ...click, ts: isoTime(click.ts) });
  return Object.fromEntries(shown.filter(([name]) => name !== "extra" && !HIDDEN[role].has(name)));
}

function readExtra(stored: string): Record<string, string> {
  return stored === "" ? {} : z.record(z.string(), z.string()).parse(JSON.parse(stored));
}

async function partnerLabel(
  db: Queryable,
  scope: ReportScope,
  { affiliate_id }: StoredClick,
): Promise<EntityLabel> {
  if (scope.role === "advertiser") return anonymousPartner(affiliate_id);
  const { workspaceId } = scope;
  return labelOf(
    await readLabels(db, "affiliate", { workspaceId, ids: [affiliate_id] }),
    affiliate_id,
  );
}

type ConversionRow = Readonly<Record<string, string | boolean>>;

/** Newest first. Partners do not learn of private events (G190). */
async function selectConversions(
  db: Queryable,
  scope: ReportScope,
  clickId: string,
): Promise<ConversionRow[]> {
  const { rows } = await db.query<ConversionRow>({
    name: "select-conversions-of-click",
    text: `select id, conv_ts, event_code, status, status_reason, payout, revenue, sale_amount, currency,
             coalesce(adv_txid, '') as adv_txid, method, is_duplicate
           from conversion
           where workspace_id = $1 and click_id = $2 and not (is_private and $3)
           order by conv_ts desc, id desc limit $4`,
    values: [scope.workspaceId, clickId, scope.role === "partner", CONVERSIONS_MAX],
  });
  return rows;
}

function shownConversion(row: ConversionRow, role: Role): Record<string, string | boolean> {
  const shown = showTo(role, "conversion", row);
  return Object.fromEntries(Object.entries(row).filter(([name]) => name in shown));
}
