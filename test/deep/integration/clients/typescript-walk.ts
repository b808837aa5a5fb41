/** A program that uses the packed client. Every line that expects an error of types must have one. */
export const TYPESCRIPT_WALK = `
import { createTracker, isTrackerError, type Schemas } from "affiliate-tracker-client";

declare const process: { readonly argv: readonly string[] };
const [, , baseUrl = "", limitedUrl = "", apiKey = "", limitedKey = "", advertiser = "", partner = ""] = process.argv;
const tracker = createTracker({ apiKey, baseUrl });

async function refusalOf(call: Promise<unknown>) {
  try {
    await call;
  } catch (error) {
    if (isTrackerError(error)) return error;
    throw error;
  }
  throw new Error("was not refused");
}

const terms = { advertiser_id: Number(advertiser), destination_url: "https://shop.example/", currency: "USD" };
const created: Schemas["Offer"][] = [];
for (const name of ["One", "Two", "Three"]) {
  const { data } = await tracker.createOffer({ body: { ...terms, name, payout: "10", revenue: "15.5" } });
  created.push(data);
}
const [first] = created;
if (first === undefined) throw new Error("no offer");

const page = await tracker.listOffers({ query: { limit: 2, featured: false } });
const all: string[] = [];
for await (const offer of tracker.each.listOffers({ query: { limit: 2, ids: created.map(({ id }) => id) } })) all.push(offer.name);

const wrong = await refusalOf(tracker.createOffer({ body: { ...terms, name: "x", payout: "-1" } }));
const absent = await refusalOf(tracker.getOffer({ path: { id: "NO-SUCH-OFFER" } }));
const isNotFound = isTrackerError(absent, "not_found");

const conversion = await tracker.createConversion({
  body: { offer_id: first.id, affiliate_id: partner, status: "approved", sale_amount: "49.90", adv_txid: "order-1" },
});
const changed = await tracker.updateConversion({ path: { id: conversion.data.id }, body: { status: "rejected", reason: "returned" } });
const conversions: string[] = [];
for await (const { status } of tracker.each.listConversions({ query: { preset: "today", limit: 1 } })) conversions.push(status);

const report = await tracker.getReport({ query: { preset: "last7", group_by: ["offer"], metrics: ["clicks", "payout"], sort: "-payout" } });
const csv = await tracker.csv.getReport({ query: { group_by: ["offer"], metrics: ["clicks", "payout"], totals: "0" } });
const costs = await tracker.csv.setAdCosts({ body: "date,offer_id,traffic_source,currency,amount\\n2026-11-20," + first.code + ",google,USD,25.40\\n" });
const file = new Blob(['[{"name":"P One Two"}]']);
const imported = await tracker.createImport({ query: { kind: "affiliates", name: "partners.json", format: "json", dry_run: "1" }, body: file });

const limited = createTracker({ apiKey: limitedKey, baseUrl: limitedUrl, retries: 0 });
const overBudget = await refusalOf((async () => { for (;;) await limited.getMe(); })());
const waited = await createTracker({ apiKey: limitedKey, baseUrl: limitedUrl }).getMe();

console.log(JSON.stringify({
  payout: first.payout,
  page: page.data.length,
  hasMore: page.next_cursor !== null,
  all,
  wrong: [wrong.status, wrong.code, Object.keys(wrong.details.fields ?? {}), wrong.requestId !== undefined],
  absent: [absent.code, isNotFound],
  changed: [changed.data.status, changed.data.status_reason],
  conversions,
  report: [report.group_by, report.columns.map(({ key }) => key)],
  csv: csv.split("\\r\\n")[0],
  costs: costs.data.inserted,
  imported: [imported.data.name, imported.data.format, imported.data.dry_run, imported.data.bytes],
  overBudget: [overBudget.status, overBudget.code, overBudget.retryAfter !== undefined],
  waited: waited.data.key.role,
}));

export async function faults(): Promise<void> {
  // @ts-expect-error money is text
  await tracker.createOffer({ body: { ...terms, name: "x", payout: 10 } });
  // @ts-expect-error no such dimension
  await tracker.getReport({ query: { group_by: ["planet"] } });
  // @ts-expect-error the CSV is csv.getReport
  await tracker.getReport({ query: { format: "csv" } });
  // @ts-expect-error a limit is a number
  await tracker.listOffers({ query: { limit: "50" } });
  // @ts-expect-error the path needs an id
  await tracker.getOffer();
  // @ts-expect-error a file is text, bytes or a Blob
  await tracker.createImport({ query: { kind: "offers" }, body: { name: "x" } });
  // @ts-expect-error offers have no CSV
  await tracker.csv.listOffers();
  // @ts-expect-error a report has no cursor
  tracker.each.getReport();
  // @ts-expect-error no such code
  isTrackerError(undefined, "no_such_code");
}
`;
