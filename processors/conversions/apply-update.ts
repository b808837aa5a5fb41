import {
  type ConversionChange,
  type ConversionState,
  changeConversion,
  findConversion,
} from "./conversions.ts";
import { convertMoney } from "./convert-money.ts";
import { decideChange } from "./decide-change.ts";
import { applicableMoney, type Incoming, type ReportSources, rateFor } from "./incoming-report.ts";
import { isOnIpList } from "./ip-list.ts";
import { type Handled, refusal, takenReply } from "./postback-answer.ts";
import { type Refusal, refused, UNAVAILABLE, UPDATE_IP_REFUSED } from "./refusal.ts";
import { isRefusal } from "./resolve-target.ts";

/** A row that others change all the time is given up after so many tries. */
const ATTEMPTS_MAX = 10;

/**
 * Applies a later postback to the conversion it is about. The change is decided from one version of the row and written only
 * if it is still that version, else decided anew. With `onlyIfDifferent`, undefined when it would change nothing.
 */
export async function applyUpdate(
  sources: ReportSources,
  incoming: Incoming,
  found: ConversionState,
  options: { readonly onlyIfDifferent: boolean } = { onlyIfDifferent: false },
): Promise<Handled | undefined> {
  const known = { workspaceId: found.workspace_id, clickId: incoming.report.clickId };
  const rate = await rateFor(sources, incoming.report, {
    currency: found.currency,
    atMs: Date.parse(found.conv_ts),
  });
  if (isRefusal(rate)) return refusal(rate, known);
  const { money, ignored } = applicableMoney(incoming);
  const asked = { status: incoming.report.status, money: convertMoney(money, rate) };
  if (options.onlyIfDifferent && decideChange(found, asked) === undefined) return undefined;
  const denied = updateDenied(sources, incoming, found);
  if (denied !== undefined) return refusal(denied, known);
  const applied = await changeUntilCurrent(sources, found, (row) =>
    incoming.report.isTest ? undefined : decideChange(row, asked),
  );
  if (applied === undefined) return refusal(UNAVAILABLE, known);
  const shown = incoming.report.isTest ? { ...found, ...decideChange(found, asked) } : applied;
  return {
    reply: takenReply({
      conversionId: found.id,
      status: shown.status,
      reason: shown.status_reason,
      isDuplicate: found.is_duplicate,
      isUpdate: true,
      isTest: incoming.report.isTest,
      details: ignored.length === 0 ? {} : { ignored },
    }),
    ...known,
    conversionId: found.id,
    message: shown.status_reason,
  };
}

/** The state after the change; undefined when the row changes under our hands again and again. */
async function changeUntilCurrent(
  { pool }: ReportSources,
  found: ConversionState,
  decide: (row: ConversionState) => ConversionChange | undefined,
): Promise<Pick<ConversionState, "status" | "status_reason"> | undefined> {
  let row: ConversionState | undefined = found;
  for (let attempt = 0; row !== undefined && attempt < ATTEMPTS_MAX; attempt += 1) {
    const change = decide(row);
    if (change === undefined) return row;
    if (await changeConversion(pool, row, change)) return change;
    row = await findConversion(pool, row.id);
  }
  return undefined;
}

/** Who may not change a conversion, and which can no longer be changed. */
function updateDenied(
  { catalog }: ReportSources,
  { origin, request }: Incoming,
  row: ConversionState,
): Refusal | undefined {
  const { sender } = origin;
  if (sender.kind === "advertiser" && !sender.workspace.advertiser_updates) {
    return refused("advertiser postbacks may not change existing conversions in this workspace");
  }
  const advertiser = catalog.advertisers.get(row.advertiser_id);
  if (advertiser !== undefined && !isOnIpList(advertiser.postback_ip_allowlist, request.ip)) {
    return UPDATE_IP_REFUSED;
  }
  if (!catalog.offers.has(row.offer_id))
    return refused("offer of this click no longer exists", "unknown_offer");
  if (catalog.eventOf(row.offer_id, row.event_code) === undefined) {
    return refused("event of this conversion no longer exists");
  }
  return undefined;
}
