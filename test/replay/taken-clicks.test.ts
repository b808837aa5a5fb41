import { expect, test } from "vitest";
import { mintClickId } from "../../schemas/ids/click-id.ts";
import type { ClickRow } from "./ledger.ts";
import { type Knowledge, readClick, TakenClicks } from "./taken-clicks.ts";
import type { WorldOffer } from "./world.ts";

const KILLED_AT_MS = Date.UTC(2026, 10, 21);
const OFFER: WorldOffer = {
  id: 7,
  code: "ONCE",
  currency: "USD",
  payout_type: "cpa",
  payout: "1.0000",
  revenue_type: "rpa",
  revenue: "2.0000",
  destination_url: "",
  fallback_url: "",
  rules: { duplicateSeconds: 3_600 },
};
const KNOWLEDGE: Knowledge = { ingressKilledAtMs: [KILLED_AT_MS], knownAfterMs: 3_600_000 };

function rowAt(atMs: number): ClickRow {
  return {
    click_id: mintClickId({ atMs, shard: 7, producer: 1 }, "secret"),
    link_type: "affiliate",
    offer_id: OFFER.id,
    affiliate_id: 1,
    smart_link_id: 0,
    status: "redirect",
    status_reason: "",
    is_unique: true,
    is_bot: false,
    country: "",
    device_type: "",
    os: "",
    browser: "",
    sub2: "",
    sub3: "",
    destination: "",
  };
}

test.each([
  ["the process that was killed in the millisecond of its answer", 0, "either"],
  ["the next process", 1, "yes"],
])("a visitor of %s is a duplicate for the next process: %i ms, %s", (_, afterMs, verdict) => {
  const [before, after] = [KILLED_AT_MS + afterMs, KILLED_AT_MS + 2_000].map((atMs) =>
    readClick(rowAt(atMs), "a visitor", KNOWLEDGE),
  );
  if (before === undefined || after === undefined) throw new Error("two clicks are expected");
  expect(new TakenClicks([before, after], KNOWLEDGE).isDuplicate(OFFER, after)).toBe(verdict);
});
