import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { refusalOfAccess } from "../../access/authorize.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { countRequests } from "../../catalog/access-requests/access-requests.ts";
import { listAccessRequests } from "../../catalog/access-requests/list-access-requests.ts";
import { affiliates } from "../../catalog/affiliates/affiliates.ts";
import { trackingDomains } from "../../catalog/management/tracking-domains.ts";
import type { FilterValues } from "../../http/filter-conditions.ts";
import { postbacks } from "../../messages/postbacks/postbacks.ts";
import { webhooks } from "../../messages/webhooks/webhooks.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import type { ManagedOperations } from "../../records/manage.ts";
import { countCapUsage } from "../../traffic/cap-usage/cap-usage.ts";
import { listCapUsage } from "../../traffic/cap-usage/list-cap-usage.ts";
import { countWaiting } from "../../traffic/conversions/conversions.ts";
import { listConversions } from "../../traffic/conversions/list-conversions.ts";

const DAY_MS = 86_400_000;
/** A day less than the longest range of the list of conversions. */
const CONVERSION_DAYS = 399;
const COUNT_MAX = 10_000;
/** Read from an index without the rows themselves. */
const CONVERSIONS_MAX = 50_000;
const CAP_SHARE = 0.8;

const KINDS = [
  "pending_affiliates",
  "access_requests",
  "pending_conversions",
  "disabled_postbacks",
  "disabled_webhooks",
  "caps",
  "uncertified_domains",
] as const;

/** How many records of a kind wait. */
type Item = {
  readonly kind: (typeof KINDS)[number];
  readonly count: number;
  /** False when there are more: the count stops at a limit. */
  readonly is_whole: boolean;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
};

type Counter = {
  /** Lists the records. A key that may not use the list does not get the item. */
  readonly list: Operation;
  readonly count: (context: OperationContext) => Promise<readonly Item[]>;
};

/** In the order of the answer. */
const COUNTERS: readonly Counter[] = [
  records("pending_affiliates", affiliates, { status: "pending" }),
  {
    list: listAccessRequests,
    count: async ({ db, workspace }) => {
      const query = { status: "pending" };
      const asked = { filters: query, countMax: COUNT_MAX + 1 };
      return item("access_requests", listAccessRequests, {
        query,
        count: await countRequests(db, workspace.id, asked),
      });
    },
  },
  { list: listConversions, count: pendingConversions },
  records("disabled_postbacks", postbacks, { status: "disabled" }),
  records("disabled_webhooks", webhooks, { disabled: true }),
  {
    list: listCapUsage,
    count: async (context) =>
      item("caps", listCapUsage, {
        query: { min_share: String(CAP_SHARE) },
        count: await countCapUsage(context, { min_share: CAP_SHARE }, COUNT_MAX + 1),
      }),
  },
  records("uncertified_domains", trackingDomains, {
    status: "active",
    certification: "not_certified",
  }),
  records("uncertified_domains", trackingDomains, { status: "active", certification: "pending" }),
];

export const getAttention: Operation = operation({
  name: "getAttention",
  method: "GET",
  path: "/attention",
  tag: "Account",
  summary: "Count what waits for the staff",
  description:
    `Numbers, each with the list that shows its records. Only what waits, and only lists that the key may read. A count stops at ${COUNT_MAX}, that of conversions at ` +
    `${CONVERSIONS_MAX} over all reasons; \`is_whole\` is false then.`,
  access: staff(),
  input: {},
  output: z.object({
    data: z.array(
      shownSchema("attention_item", {
        kind: z.enum(KINDS),
        count: z.int(),
        is_whole: z.boolean(),
        path: z.string(),
        query: z.record(z.string(), z.string()),
      }).meta({ id: "AttentionItem" }),
    ),
  }),
  status: 200,
  run: async (context) => {
    const { principal } = context;
    const items: Item[] = [];
    // One after the other, so that a request uses one connection.
    for (const { list, count } of COUNTERS)
      if (refusalOfAccess(principal, list.access) === undefined)
        items.push(...(await count(context)));
    return {
      body: { data: items.map((one) => showTo(principal.role, "attention_item", one)) },
    };
  },
});

/** Records of a managed resource that its list finds by these filters. */
function records(
  kind: Item["kind"],
  { list, count }: Pick<ManagedOperations, "list" | "count">,
  filters: FilterValues,
): Counter {
  const query = Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name, String(value)]),
  );
  return {
    list,
    count: async (context) =>
      item(kind, list, { query, count: await count(context, filters, COUNT_MAX + 1) }),
  };
}

/** One for each reason. */
async function pendingConversions({
  db,
  workspace,
  nowMs,
}: OperationContext): Promise<readonly Item[]> {
  const fromMs = nowMs - CONVERSION_DAYS * DAY_MS;
  const range = { fromMs, toMs: nowMs, rowsMax: CONVERSIONS_MAX };
  const { byReason, isWhole } = await countWaiting(db, workspace.id, range);
  return byReason.map(({ status_reason, count }) => ({
    kind: "pending_conversions",
    count,
    is_whole: isWhole,
    path: listConversions.path,
    query: { status: "pending", status_reason, from: new Date(fromMs).toISOString() },
  }));
}

/** Empty when nothing waits. */
function item(
  kind: Item["kind"],
  { path }: Operation,
  { query, count }: Pick<Item, "query" | "count">,
): readonly Item[] {
  if (count === 0) return [];
  const isWhole = count <= COUNT_MAX;
  return [{ kind, count: Math.min(count, COUNT_MAX), is_whole: isWhole, path, query }];
}
