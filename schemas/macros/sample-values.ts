import type { PostbackMacro } from "./macro-names.ts";

/** What the macros of a postback become in a test: of a kind that the receiver can read, and nobody's. */
const VALUES: Readonly<Partial<Record<PostbackMacro, string>>> = {
  click_id: "00000000000000000000000000000000",
  conversion_id: "00000000-0000-4000-8000-000000000000",
  payout: "1.0000",
  status: "approved",
  old_status: "",
  old_payout: "0.0000",
  payout_delta: "1.0000",
  event: "test",
  event_code: "test",
  offer_id: "0",
  affiliate_id: "0",
  currency: "USD",
  sale_amount: "10.0000",
  country: "US",
  device_type: "desktop",
  click_ts: "2026-01-31T10:00:00.000Z",
  conv_ts: "2026-01-31T10:05:00.000Z",
  reason: "",
  random: "123456789",
  timestamp: "1769853900",
  ip: "192.0.2.1",
};

/** The others become their own name: `test-sub1`. */
export function sampleValue(macro: PostbackMacro): string {
  return VALUES[macro] ?? `test-${macro}`;
}
