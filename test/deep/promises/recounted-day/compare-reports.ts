import { z } from "zod";
import { differing } from "../../../replay/differing.ts";
import { pause, type ServiceClient } from "../../../system/service.ts";
import { isVisible, type Role, readText } from "./compare-rows.ts";
import { decimal, units } from "./money.ts";
import { partnerOf, type Recounted, shopOf } from "./recount-day.ts";
import { CURRENCIES } from "./shop.ts";

const CAUGHT_UP_MS = 60_000;
const POLL_MS = 250;

const COUNTS = ["conversions", "pending_conversions", "rejected_conversions"] as const;
const MONEY = {
  admin: ["revenue", "payout", "profit", "sale_amount"],
  partner: ["payout", "sale_amount"],
  advertiser: ["revenue", "sale_amount"],
} as const;

type Sums = {
  conversions: number;
  pending_conversions: number;
  rejected_conversions: number;
  revenue: bigint;
  payout: bigint;
  sale_amount: bigint;
};
/** The dimension values of a conversion, or of the money of clicks. */
type Facts = Readonly<Record<string, string>>;
const Report = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  totals: z.record(z.string(), z.unknown()),
  next_offset: z.null(),
  other_currencies: z.array(z.string()),
});

const GROUPINGS: Readonly<Record<Role, readonly string[]>> = {
  admin: ["offer,status", "date,affiliate,advertiser", "event,status,affiliate", ""],
  partner: ["offer,status", "date,event", ""],
  advertiser: ["offer,status", "date,event", ""],
};

/** Every difference between reports and the ledger, after waiting until reports have caught up. */
export async function reportDifferences(day: Recounted, client: ServiceClient): Promise<string[]> {
  const deadlineMs = Date.now() + CAUGHT_UP_MS;
  for (;;) {
    const counts = await compare(day, client, { role: "admin", dimensions: "", currency: "USD" });
    if (counts.length === 0 || Date.now() > deadlineMs) break;
    await pause(POLL_MS);
  }
  const differences: string[] = [];
  for (const role of ["admin", "partner", "advertiser"] as const) {
    for (const dimensions of GROUPINGS[role]) {
      for (const currency of CURRENCIES)
        differences.push(...(await compare(day, client, { role, dimensions, currency })));
    }
  }
  return differences;
}

type Subject = { readonly role: Role; readonly dimensions: string; readonly currency: string };

async function compare(
  day: Recounted,
  client: ServiceClient,
  { role, dimensions, currency }: Subject,
): Promise<string[]> {
  const metrics = [...COUNTS, ...MONEY[role]];
  const own = sumsBy(day, { role, dimensions, currency });
  const totals = sumsBy(day, { role, dimensions: "", currency }).get("") ?? nothing();
  const query = new URLSearchParams({
    metrics: metrics.join(","),
    currency,
    preset: "last7",
    ...(dimensions === "" ? {} : { group_by: dimensions, limit: "10000" }),
  });
  const answer = Report.parse(JSON.parse(await readText(client, `/reports?${query}`, role)));
  const where = `report of ${role} in ${currency} by ${dimensions || "nothing"}`;
  const keyOf = (row: Record<string, unknown>): string =>
    dimensions === ""
      ? ""
      : dimensions
          .split(",")
          .map((name) => textOf(row[name] ?? ""))
          .join("|");
  const shown = new Map(answer.data.map((row) => [keyOf(row), row]));
  const differences = [...new Set([...own.keys(), ...shown.keys()])].flatMap((key) =>
    metricDifferences(`${where}, "${key}"`, shown.get(key), own.get(key), metrics),
  );
  return [
    ...differences,
    ...metricDifferences(`${where}, totals`, answer.totals, totals, metrics),
    ...csvDifferences(where, {
      csv: await readText(client, `/reports?${query}&format=csv`, role),
      shown: [...answer.data, answer.totals].map((row) =>
        metrics.map((name) => String(row[name])).join(","),
      ),
      metrics,
    }),
  ];
}

function metricDifferences(
  where: string,
  shown: Record<string, unknown> | undefined,
  own: Sums | undefined,
  metrics: readonly string[],
): string[] {
  const sums = own ?? nothing();
  const values: Record<string, string> = {
    ...Object.fromEntries(COUNTS.map((name) => [name, String(sums[name])])),
    revenue: decimal(sums.revenue),
    payout: decimal(sums.payout),
    profit: decimal(sums.revenue - sums.payout),
    sale_amount: decimal(sums.sale_amount),
  };
  const zero = (name: string): string => (name.endsWith("conversions") ? "0" : "0.0000");
  return differing(
    where,
    metrics.map((name) => [name, textOf(shown?.[name] ?? zero(name)), values[name] ?? ""]),
  );
}

/** The CSV must have the same numbers as the JSON, with the totals last. */
function csvDifferences(
  where: string,
  of: {
    readonly csv: string;
    readonly shown: readonly string[];
    readonly metrics: readonly string[];
  },
): string[] {
  const numbers = of.csv
    .split("\r\n")
    .slice(1)
    .filter((line) => line !== "" && !line.includes("Note: "))
    .map((line) => line.split(",").slice(-of.metrics.length).join(","));
  return differing(`${where}, CSV`, [
    ["totals", numbers.at(-1) ?? "", of.shown.at(-1) ?? ""],
    ["rows", numbers.toSorted().join("\n"), of.shown.toSorted().join("\n")],
  ]);
}

function sumsBy(day: Recounted, { role, dimensions, currency }: Subject): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  const of = (facts: Facts): Sums => {
    const key =
      dimensions === ""
        ? ""
        : dimensions
            .split(",")
            .map((name) => facts[name] ?? "")
            .join("|");
    const sum = sums.get(key) ?? nothing();
    sums.set(key, sum);
    return sum;
  };
  for (const row of day.rows.filter((one) => isVisible(day, one, role))) {
    const shop = shopOf(day, row);
    const sum = of({
      offer: `${shop.id}`,
      affiliate: `${partnerOf(day, row).id}`,
      event: row.event.code,
      status: row.status,
      date: day.dayOf.get(row.id) ?? "",
      advertiser: `${day.advertisers[shop.advertiser]}`,
    });
    const count = { approved: "conversions", pending: "pending_conversions" } as const;
    sum[row.status === "rejected" ? "rejected_conversions" : count[row.status]] += 1;
    if (row.status !== "approved" || row.currency !== currency) continue;
    sum.revenue += row.revenue;
    sum.payout += row.payout;
    sum.sale_amount += row.sale;
  }
  addClicks(day, { role, currency }, of);
  return sums;
}

/** Every click of the day has a different visitor, so each is unique and offers with a price per click pay for it (G71). */
function addClicks(
  day: Recounted,
  { role, currency }: Pick<Subject, "role" | "currency">,
  of: (facts: Facts) => Sums,
): void {
  for (const click of day.clicks) {
    const shop = shopOf(day, click);
    const [main] = shop.events;
    if (main?.payout_type !== "cpc" || shop.currency !== currency) continue;
    if (role === "partner" && click.partner !== 0) continue;
    if (role === "advertiser" && shop.advertiser !== "own") continue;
    const sum = of({
      offer: `${shop.id}`,
      affiliate: `${partnerOf(day, click).id}`,
      date: click.day,
      advertiser: `${day.advertisers[shop.advertiser]}`,
    });
    sum.payout += units(main.payout);
    sum.revenue += units(main.revenue);
  }
}

function nothing(): Sums {
  return {
    conversions: 0,
    pending_conversions: 0,
    rejected_conversions: 0,
    revenue: 0n,
    payout: 0n,
    sale_amount: 0n,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
