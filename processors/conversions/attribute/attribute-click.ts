import { offersNamed } from "../../../schemas/catalog/named-records.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Origin } from "../read/resolve-target.ts";
import { type Refusal, refused, UNAVAILABLE } from "../report/refusal.ts";
import type { Report } from "../report/report-params.ts";
import { findClickIdByEmail } from "./click-of-email.ts";
import {
  type ClickSources,
  type FoundClick,
  findClickByAdId,
  findClickByAdIdForStranger,
  findClickById,
} from "./find-click.ts";

export type Attribution = { readonly kind: "attributed"; readonly click: ClickRecord | undefined };

export type Attributor = ClickSources & { readonly pool: Queryable };

const UNKNOWN_CLICK = refused("unknown click_id", "unknown_click");

/**
 * Finds the click that a report is credited to: by click id, then by ad ID, then by e-mail. Undefined when the report names none of
 * them. If the offer uses first-touch attribution, the first click wins over all of these (G112).
 */
export async function attributeClick(
  sources: Attributor,
  report: Report,
  origin: Origin,
  receivedAtMs: number,
): Promise<Attribution | Refusal> {
  const last = await lastClick(sources, report, origin, receivedAtMs);
  if (last.kind === "refused" || last.click === undefined) return last;
  return await firstTouch(sources, report, last.click);
}

async function lastClick(
  sources: Attributor,
  report: Report,
  origin: Origin,
  receivedAtMs: number,
): Promise<Attribution | Refusal> {
  if (report.clickId !== undefined) {
    return attributionOf(await findClickById(sources, report.clickId), UNKNOWN_CLICK);
  }
  if (report.adClickId !== undefined) {
    const { kind } = report.adClickId;
    const workspaceIds =
      origin.sender.kind === "pixel"
        ? sources.catalog.workspaceIdsOfHost(origin.host)
        : [origin.sender.workspace.id];
    const offer =
      report.offerCode === undefined
        ? undefined
        : offersNamed(sources.catalog, workspaceIds, report.offerCode)[0];
    const find = origin.sender.kind === "pixel" ? findClickByAdIdForStranger : findClickByAdId;
    const found = await find(sources, {
      ...report.adClickId,
      workspaceIds: offer === undefined ? workspaceIds : [offer.workspace_id],
      offerId: offer?.id ?? 0,
      receivedAtMs,
    });
    return attributionOf(found, refused(`no click found for ${kind}`, "unknown_click"));
  }
  return await clickByEmail(sources, report, origin);
}

/** The check of the attribution window comes later and treats this click like any other (G114). */
async function clickByEmail(
  sources: Attributor,
  { emailHash }: Report,
  { sender }: Origin,
): Promise<Attribution | Refusal> {
  const none: Attribution = { kind: "attributed", click: undefined };
  if (emailHash === undefined || sender.kind === "pixel" || !sender.workspace.email_attribution)
    return none;
  const clickId = await findClickIdByEmail(sources.pool, {
    workspaceId: sender.workspace.id,
    emailHash,
    advertiserId: sender.kind === "advertiser" ? sender.advertiser.id : null,
  });
  if (clickId === undefined) return none;
  const found = await findClickById(sources, clickId);
  // A click whose retention period is over can no longer be credited.
  return found.kind === "none" ? none : attributionOf(found, UNKNOWN_CLICK);
}

async function firstTouch(
  sources: Attributor,
  { firstClickId }: Report,
  last: ClickRecord,
): Promise<Attribution | Refusal> {
  const model = sources.catalog.workspaces.get(last.workspace_id)?.attribution_model;
  const credited: Attribution = { kind: "attributed", click: last };
  if (model !== "first" || firstClickId === undefined || firstClickId === last.click_id)
    return credited;
  const first = await findClickById(sources, firstClickId);
  if (first.kind === "unavailable") return UNAVAILABLE;
  if (first.kind === "none") return credited;
  const { click } = first;
  const isSame = click.workspace_id === last.workspace_id && click.offer_id === last.offer_id;
  return isSame ? { kind: "attributed", click } : credited;
}

function attributionOf(found: FoundClick, none: Refusal): Attribution | Refusal {
  switch (found.kind) {
    case "found":
      return { kind: "attributed", click: found.click };
    case "none":
      return none;
    case "unavailable":
      return UNAVAILABLE;
  }
}
