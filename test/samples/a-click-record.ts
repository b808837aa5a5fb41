import { ClickRecord } from "../../schemas/events/click-record.ts";

/** A click as ingress records it. A test sets only the fields that matter to it. */
export function aClick(fields: Partial<ClickRecord> = {}): ClickRecord {
  return ClickRecord.parse({
    click_id: "0195".padEnd(32, "0"),
    ts: 1_732_160_000_000,
    workspace_id: 1,
    link_type: "affiliate",
    status: "redirect",
    offer_id: 4,
    affiliate_id: 2,
    ...fields,
  });
}
