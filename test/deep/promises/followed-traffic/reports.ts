import fc from "fast-check";
import { z } from "zod";
import { dimensionNames } from "../../../../api/reports/dimensions.ts";
import { measuresOf } from "../../../../api/reports/measures.ts";
import type { Ledger } from "../../../integration/reports/ledger.ts";
import { type RecountRequest, recount } from "../../../integration/reports/recount.ts";
import type { Role } from "../../../integration/reports/recount-sums.ts";
import { queryOf, recountedPart } from "../../../integration/reports/report-query.ts";
import { words } from "../../../samples/words.ts";
import type { Market } from "./market.ts";

export const ROLES: readonly Role[] = ["staff", "partner", "advertiser"];
const ZONES = words(`
  UTC Europe/Berlin Asia/Kolkata Asia/Kathmandu Australia/Lord_Howe Pacific/Chatham
`);
const CURRENCIES = ["USD", "EUR", "GBP", "JPY"];
/** Dimensions that no answer reveals, so that the ledger cannot have them, and sub IDs that no visit sends. */
const UNKNOWN = new Set(
  words(`
  region city is_datacenter manager conversion_reason creative language os_version isp
`),
);
const UNSENT = /^sub[3-9]$/;
const TEXTS = new Set(
  words(`
  country os browser traffic_source source_id sub1 sub2 sub10 ext_campaign_id ext_adgroup_id
  ext_keyword referrer_host
`),
);
const FILTER_VALUES_MAX = 12;

const Answer = z.record(z.string(), z.unknown());

/** A report over the events between two instants. */
export function requestFor(
  market: Market,
  role: Role,
  range: { readonly fromMs: number; readonly toMs: number },
): RecountRequest {
  return {
    role,
    ownerId: market.owners[role],
    workspaceId: market.workspaceId,
    ...range,
    groupBy: [],
    metrics: measuresOf(role).map(({ name }) => name),
    sort: "-clicks",
    filters: [],
    tz: "UTC",
    currency: "USD",
    dateBasis: "conversion",
    limit: 10_000,
    offset: 0,
    managers: new Map<number, number>(),
    offerCurrencies: new Map(market.offers.map(({ id, currency }) => [id, currency])),
  };
}

function dimensionsOf(role: Role): string[] {
  return dimensionNames(role).filter((name) => !UNKNOWN.has(name) && !UNSENT.test(name));
}

/** The answer of `GET /reports`, in the shape of a recount. */
export async function shown(market: Market, request: RecountRequest): Promise<unknown> {
  const { client, keys } = market;
  const query = new URLSearchParams(queryOf(request));
  const answer = await client.attempt(`${client.demo.base_url}/reports?${query}`, {
    authorization: `Bearer ${keys[request.role]}`,
  });
  if (answer.status !== 200) throw new Error(`${query}: HTTP ${answer.status} ${answer.body}`);
  return recountedPart(Answer.parse(JSON.parse(answer.body)), request);
}

export function expected(ledger: Ledger, request: RecountRequest): unknown {
  return recount(ledger, {
    ...request,
    offset: request.groupBy.length === 0 ? 0 : request.offset,
  });
}

/** Any report of any role between two instants of `cuts`. Filters use values from the ledger. */
export function anyRequest(
  market: Market,
  ledger: Ledger,
  cuts: readonly number[],
): fc.Arbitrary<RecountRequest> {
  const anyRole = fc.constantFrom<Role>("staff", "staff", "partner", "advertiser");
  const ranges = cuts.flatMap((fromMs, at) => cuts.slice(at + 1).map((toMs) => ({ fromMs, toMs })));
  const whole = { fromMs: cuts[0] ?? 0, toMs: cuts.at(-1) ?? 0 };
  return anyRole.chain((role) => {
    const all = requestFor(market, role, whole);
    const dimensions = dimensionsOf(role);
    const groupBy = fc.uniqueArray(fc.constantFrom(...dimensions), { maxLength: 3 });
    return fc.tuple(groupBy, fc.constantFrom(...ranges)).chain(([names, range]) =>
      fc.record({
        ...asConstants({ ...all, ...range }),
        groupBy: fc.constant(names),
        metrics: fc.uniqueArray(fc.constantFrom(...all.metrics), { minLength: 1 }),
        sort: fc
          .tuple(fc.constantFrom("", "-"), fc.constantFrom(...all.metrics, ...names))
          .map((parts) => parts.join("")),
        filters: fc.array(
          fc.constantFrom(...dimensions).chain((name) => anyFilter(name, { ledger, all })),
          { maxLength: 3 },
        ),
        tz: fc.constantFrom(...ZONES),
        currency: fc.constantFrom(...CURRENCIES),
        dateBasis: fc.constantFrom<"conversion" | "click">("conversion", "click"),
        limit: fc.constantFrom(1, 7, 10_000),
        offset: fc.constantFrom(0, 0, 3),
      }),
    );
  });
}

function asConstants(request: RecountRequest) {
  const { role, ownerId, workspaceId, managers, offerCurrencies, fromMs, toMs } = request;
  return {
    role: fc.constant(role),
    ownerId: fc.constant(ownerId),
    fromMs: fc.constant(fromMs),
    toMs: fc.constant(toMs),
    workspaceId: fc.constant(workspaceId),
    managers: fc.constant(managers),
    offerCurrencies: fc.constant(offerCurrencies),
  };
}

function anyFilter(
  dimension: string,
  { ledger, all }: { readonly ledger: Ledger; readonly all: RecountRequest },
): fc.Arbitrary<RecountRequest["filters"][number]> {
  const { data } = recount(ledger, { ...all, groupBy: [dimension], metrics: ["clicks"] });
  const values = data.map((row) => String(row[dimension])).filter((value) => value !== "");
  const lists = ["in", "not_in"];
  const operators = TEXTS.has(dimension)
    ? [...lists, "contains", "not_contains", "starts_with", "empty", "not_empty"]
    : lists;
  const some = fc.uniqueArray(fc.constantFrom(...values.slice(0, FILTER_VALUES_MAX)), {
    minLength: 1,
    maxLength: 3,
  });
  return fc
    .constantFrom(...(values.length === 0 ? ["empty", "not_empty"] : operators))
    .chain((operator) =>
      fc.record({
        dimension: fc.constant(dimension),
        operator: fc.constant(operator),
        values: operator.endsWith("empty") ? fc.constant([]) : some,
      }),
    );
}
