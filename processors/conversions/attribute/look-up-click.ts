import type { ClickLookup, ClickLookupReply } from "../../../schemas/events/click-lookup.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { type ClickSources, findClickByAdIdForStranger, findClickById } from "./find-click.ts";

/**
 * The first id of a landing page that belongs to a known click. If the look-up of an id is unavailable now, returns that and does not
 * continue with the next id (G162).
 */
export async function lookUpClick(
  sources: ClickSources,
  lookup: ClickLookup,
): Promise<ClickLookupReply> {
  const { clickId, adClickIds, workspaceIds, offerId, receivedAtMs } = lookup;
  if (clickId !== null) {
    const outcome = await findClickById(sources, clickId);
    if (outcome.kind === "unavailable") return outcome;
    if (outcome.kind === "found" && workspaceIds.includes(outcome.click.workspace_id))
      return found("param", outcome.click);
  }
  for (const { kind, value } of adClickIds) {
    const search = { kind, value, workspaceIds, offerId, receivedAtMs };
    const outcome = await findClickByAdIdForStranger(sources, search);
    if (outcome.kind === "unavailable") return outcome;
    if (outcome.kind === "found") return found(kind, outcome.click);
  }
  return { kind: "none" };
}

function found(
  by: Extract<ClickLookupReply, { kind: "found" }>["by"],
  click: ClickRecord,
): ClickLookupReply {
  return { kind: "found", by, clickId: click.click_id, workspaceId: click.workspace_id };
}
