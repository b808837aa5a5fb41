import { z } from "zod";
import { parseClickId } from "../../../schemas/ids/click-id.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { everyRole } from "../../access/access-of-operations.ts";
import { isShown, showTo } from "../../access/visibility.ts";
import {
  anonymousPartner,
  type EntityLabel,
  labelOf,
  readLabels,
} from "../../catalog/labels/entity-labels.ts";
import { shownClickId } from "../../http/query-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { sentAs } from "../../operation/parameters.ts";
import type { Role } from "../../operation/permissions.ts";
import type { Principal } from "../../operation/principal.ts";
import { reportScope } from "../../reports/caller.ts";
import { ShownConversion } from "../conversions/conversion-fields.ts";
import { isoTime, ShownClick, type StoredClick } from "./click-row.ts";
import { findClick } from "./find-click.ts";

const CONVERSIONS_MAX = 1_000;

const named = z.object({ id: z.int(), label: z.string(), sub: z.string() });
const ClickDetail = z.object({
  click: ShownClick,
  extra: z.record(z.string(), z.string()),
  offer: named,
  affiliate: named,
  conversions: z.array(
    ShownConversion.pick({
      id: true,
      conv_ts: true,
      event_code: true,
      status: true,
      status_reason: true,
      payout: true,
      revenue: true,
      sale_amount: true,
      currency: true,
      adv_txid: true,
      method: true,
      is_duplicate: true,
    }).meta({ id: "ConversionOfClick" }),
  ),
});

export const getClick: Operation = operation({
  name: "getClick",
  method: "GET",
  path: "/clicks/{click_id}",
  tag: "Clicks",
  summary: "Get a click",
  description: "With its conversions.",
  access: everyRole("clicks.read"),
  input: { path: z.object({ click_id: sentAs(z.string(), shownClickId) }) },
  output: z.object({ data: ClickDetail }),
  status: 200,
  readsClickhouse: "clicks",
  run: async (context, { path }) => {
    const clickId = parseClickId(path.click_id);
    if (clickId === undefined) throw notFound("click");
    const scope = reportScope(context.principal);
    const click = await findClick(context, scope, clickId);
    if (click === undefined) throw notFound("click");
    const { workspaceId } = scope;
    const offers = await readLabels(context.db, "offer", { workspaceId, ids: [click.offer_id] });
    const conversions = await selectConversions(context.db, context.principal, clickId);
    const { role } = context.principal;
    const detail = {
      click: shownColumns(click, role),
      extra: isShown(role, "click", "extra") ? readExtra(click.extra) : {},
      offer: { id: click.offer_id, ...labelOf(offers, click.offer_id) },
      affiliate: { id: click.affiliate_id, ...(await partnerLabel(context, click)) },
      conversions: conversions.map((row) => shownConversion(row, role)),
    };
    return { body: { data: detail } };
  },
});

function shownColumns(click: StoredClick, role: Role): Record<string, string | number | boolean> {
  const { extra: _, ...columns } = { ...click, ts: isoTime(click.ts) };
  const shown = Object.entries(columns).filter(([name]) => isShown(role, "click", name));
  return Object.fromEntries(shown);
}

function readExtra(stored: string): Record<string, string> {
  return stored === "" ? {} : z.record(z.string(), z.string()).parse(JSON.parse(stored));
}

async function partnerLabel(
  { db, workspace, principal }: OperationContext,
  { affiliate_id }: StoredClick,
): Promise<EntityLabel> {
  if (!isShown(principal.role, "click", "affiliate_label")) return anonymousPartner(affiliate_id);
  const keys = { workspaceId: workspace.id, ids: [affiliate_id] };
  return labelOf(await readLabels(db, "affiliate", keys), affiliate_id);
}

type ConversionRow = Readonly<Record<string, string | boolean>>;

/**
 * Newest first, and only the caller's own: a conversion may belong to another partner or advertiser than its click. Partners do
 * not see conversions of private events (G190).
 */
async function selectConversions(
  db: Queryable,
  { workspace, affiliate, advertiser }: Principal,
  clickId: string,
): Promise<ConversionRow[]> {
  const { rows } = await db.query<ConversionRow>({
    name: "select-conversions-of-click",
    text: `select id, conv_ts, event_code, status, status_reason, payout, revenue, sale_amount, currency,
             coalesce(adv_txid, '') as adv_txid, method, is_duplicate
           from conversion
           where workspace_id = $1 and click_id = $2
             and ($3::integer is null or (affiliate_id = $3 and not is_private))
             and ($4::integer is null or advertiser_id = $4)
           order by conv_ts desc, id desc limit $5`,
    values: [workspace.id, clickId, affiliate?.id, advertiser?.id, CONVERSIONS_MAX],
  });
  return rows;
}

function shownConversion(row: ConversionRow, role: Role): Record<string, string | boolean> {
  const shown = showTo(role, "conversion", row);
  return Object.fromEntries(Object.entries(row).filter(([name]) => name in shown));
}
