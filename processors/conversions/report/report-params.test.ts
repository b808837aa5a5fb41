import fc from "fast-check";
import { expect, test } from "vitest";
import { type Report, readReport } from "./report-params.ts";

const CLICK = "0123456789abcdef0123456789abcdef";

function reportOf(
  params: Record<string, string>,
  endpoint: "pb" | "px" = "pb",
  cookieClickId = "",
): Report {
  const read = readReport({ endpoint, params, cookieClickId });
  if (read.kind === "malformed") throw new Error(read.error);
  return read.report;
}

function errorOf(params: Record<string, string>, endpoint: "pb" | "px" = "pb"): string | undefined {
  const read = readReport({ endpoint, params, cookieClickId: "" });
  return read.kind === "malformed" ? read.error : undefined;
}

test("every alias is read, and the first one with a value wins (PB-004, PB-014, PB-018, G119)", () => {
  for (const name of ["click_id", "transaction_id", "tid"]) {
    expect(reportOf({ [name]: CLICK.toUpperCase() }).clickId, name).toBe(CLICK);
  }
  for (const name of ["txid", "adv_txid", "order_id"]) {
    expect(reportOf({ click_id: CLICK, [name]: "A 1" }).txid, name).toBe("A 1");
  }
  for (const name of ["amount", "sale_amount"]) {
    expect(reportOf({ click_id: CLICK, [name]: "12.5" }).money.saleAmount, name).toBe(125_000n);
  }
  for (const name of ["aff_id", "affiliate_id", "aff"]) {
    expect(reportOf({ offer: "O", [name]: "P" }), name).toMatchObject({
      offerCode: "O",
      affiliateCode: "P",
    });
  }
  expect(reportOf({ click_id: CLICK, txid: "", adv_txid: "second", order_id: "third" }).txid).toBe(
    "second",
  );
  expect(reportOf({ click_id: CLICK }).eventCode).toBe("default");
});

test.each([
  ["PB-045", { click_id: "abc" }, "invalid click_id (expected 32 hex characters)"],
  ["PB-049", { click_id: "a".repeat(513) }, "click identifier too long"],
  ["PB-049", { gclid: "a".repeat(513) }, "click identifier too long"],
  ["PB-049", { click_id: CLICK, event: "e".repeat(65) }, "event code too long"],
  [
    "PB-047",
    { click_id: CLICK, amount: "-1" },
    "invalid amount (plain decimal, non-negative, in range)",
  ],
  [
    "PB-047",
    { click_id: CLICK, amount: "1e3" },
    "invalid amount (plain decimal, non-negative, in range)",
  ],
  [
    "PB-047",
    { click_id: CLICK, revenue: "abc" },
    "invalid revenue (plain decimal, non-negative, in range)",
  ],
  [
    "PB-047",
    { click_id: CLICK, payout: "1000000000000.0001" },
    "invalid payout (plain decimal, non-negative, in range)",
  ],
  ["PB-015", { click_id: CLICK, status: "x" }, "invalid status (approved|pending|rejected)"],
  ["PB-017", { click_id: CLICK, currency: "EURO" }, "invalid currency"],
  ["PB-048", { click_id: CLICK, txid: "t".repeat(129) }, "invalid txid"],
  ["PB-048", { click_id: CLICK, txid: "a\nb" }, "invalid txid"],
  ["PB-048", { click_id: CLICK, email: "nobody" }, "invalid email"],
  ["PB-048", { click_id: CLICK, coupon_code: "c".repeat(65) }, "invalid coupon_code"],
  ["PB-048", { click_id: CLICK, conversion_id: "1" }, "invalid conversion_id (UUID)"],
])("%s: %o is malformed", (_id, params, error) => {
  expect(errorOf(params)).toBe(error);
});

test("a blank inside an e-mail address was a plus (G114, G224)", () => {
  const [sent, received] = [{ email: "ann+shop@example.com" }, { email: "ann shop@example.com" }];
  expect(reportOf(received).emailHash).toBe(reportOf(sent).emailHash);
  expect(errorOf({ email: "ann shop" })).toBe("invalid email");
});

test("test= has the usual words for yes and no; any other is refused (PB-024, G227)", () => {
  for (const yes of ["1", "true", "TRUE", "yes", "On"])
    expect(reportOf({ click_id: CLICK, test: yes }).isTest, yes).toBe(true);
  for (const no of ["0", "false", "no", "OFF", "", " "])
    expect(reportOf({ click_id: CLICK, test: no }).isTest, no).toBe(false);
  for (const other of ["2", "test", "{test}", "y"])
    expect(errorOf({ click_id: CLICK, test: other })).toMatch(/^invalid test/);
});

test("amounts of shops are read, and a refusal says why (PB-047, G219)", () => {
  expect(reportOf({ click_id: CLICK, amount: "3.3000000000000003" }).money.saleAmount).toBe(
    33_000n,
  );
  const read = readReport({
    endpoint: "pb",
    params: { click_id: CLICK, amount: "49,90" },
    cookieClickId: "",
  });
  expect(read).toMatchObject({
    reason: "it has a comma: write 1200.50, not 1,200.50 or 1200,50",
  });
});

test("without any identifier a report is malformed, and a pixel needs a click (PB-046, PX-007)", () => {
  expect(errorOf({ amount: "5" })).toMatch(/^missing identifier/);
  for (const name of ["gclid", "txid", "offer_id", "aff_id", "coupon_code"])
    expect(errorOf({ [name]: "x" }), name).toBeUndefined();
  expect(errorOf({ txid: "x" }, "px")).toBe("click_id required");
  expect(
    errorOf({ click_id: CLICK, conversion_id: "01a1fc65-173e-7eb1-b69e-769fbe5c2c41" }, "px"),
  ).toBe("conversion_id updates need a server-to-server postback");
});

test("a pixel takes the cookie's click when it names none, and no other cookie (PX-006)", () => {
  expect(reportOf({}, "px", CLICK).clickId).toBe(CLICK);
  expect(reportOf({ gclid: "g" }, "px", CLICK).clickId).toBeUndefined();
  expect(reportOf({ gclid: "g" }, "px", "junk").clickId).toBeUndefined();
  expect(() => reportOf({}, "pb", CLICK)).toThrow(/missing identifier/);
});

test("all spellings of an e-mail address have one hash, and only the hash is kept (PB-020, G114)", () => {
  const [one, two] = [
    reportOf({ email: " Ann@Example.com " }),
    reportOf({ em: "ann@example.COM" }),
  ];
  expect(one.emailHash).toBe(two.emailHash);
  expect(JSON.stringify({ ...one, money: null })).not.toMatch(/ann/i);
});

/** Any UTF-16 code units, lone surrogates included. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

test("any input is read or refused, and never throws (P28)", () => {
  const names = [
    "click_id",
    "tid",
    "gclid",
    "amount",
    "status",
    "currency",
    "txid",
    "email",
    "phone",
    "event",
    "ip",
    "adv1",
    "test",
  ];
  const params = fc.dictionary(fc.constantFrom(...names), anyText);
  fc.assert(
    fc.property(
      params,
      fc.constantFrom("pb", "px"),
      fc.string(),
      (given, endpoint, cookieClickId) => {
        const read = readReport({ endpoint, params: given, cookieClickId });
        return read.kind === "report" || read.error.length > 0;
      },
    ),
    { numRuns: 60 },
  );
});
