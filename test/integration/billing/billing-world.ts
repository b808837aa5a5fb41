import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type AccountKind, postLedger } from "../../../schemas/billing/post-ledger.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import type { Answer, ApiWorld, Json, Tenant } from "../api/api-world.ts";

const STARTS_ON = "2026-01-01";

/** Switches billing on in the workspace of the tenant. */
export async function switchOn(world: ApiWorld, tenant: Tenant = world.tenant): Promise<void> {
  const body = { enabled: true, starts_on: STARTS_ON };
  const answer = await world.patch("/billing-settings", body, tenant.keys.admin);
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Sends an adjustment for the partner of the tenant, with an `Idempotency-Key` if there is one. */
export async function adjust(
  world: ApiWorld,
  fields: Json = {},
  { key, idempotencyKey }: { key?: string; idempotencyKey?: string } = {},
): Promise<Answer> {
  return await world.call("POST", "/adjustments", {
    key: key ?? world.tenant.keys.admin,
    body: {
      affiliate_id: world.tenant.affiliateId,
      currency: "USD",
      amount: "10",
      kind: "bonus",
      reason: "Good work",
      ...fields,
    },
    ...(idempotencyKey === undefined ? {} : { headers: { "idempotency-key": idempotencyKey } }),
  });
}

/** Posts money that a conversion brought: to the partner of the tenant, and from its advertiser. */
export async function earn(
  world: ApiWorld,
  { payout = "0", revenue = "0", currency = "USD" }: Record<string, string>,
): Promise<void> {
  const { workspaceId, affiliateId, advertiserId } = world.tenant;
  const id = randomUUID();
  const pair = (debit: AccountKind, credit: AccountKind, text: string) => {
    const entry = { currency, conversionId: id, count: 1 };
    const ownerOf = (account: AccountKind): number =>
      account === "partner_payable"
        ? affiliateId
        : account === "advertiser_receivable"
          ? advertiserId
          : 0;
    return amountOf(text) === 0n
      ? []
      : [
          { ...entry, account: debit, ownerId: ownerOf(debit), amount: amountOf(text) },
          { ...entry, account: credit, ownerId: ownerOf(credit), amount: -amountOf(text) },
        ];
  };
  await postLedger(world.pool, workspaceId, [
    {
      kind: "conversion",
      sourceKind: "conversion",
      sourceId: id,
      entries: [
        ...pair("payout_cost", "partner_payable", payout),
        ...pair("advertiser_receivable", "revenue", revenue),
      ],
    },
  ]);
}

/** A conversion of the tenant as it is stored. Answers its id. */
export async function storeConversion(world: ApiWorld, fields: Json = {}): Promise<string> {
  const { workspaceId, affiliateId, advertiserId } = world.tenant;
  const offer = await world.offer({ name: "Shoes" });
  const id = randomUUID();
  const row: Json = {
    id,
    workspace_id: workspaceId,
    offer_id: offer.id,
    affiliate_id: affiliateId,
    advertiser_id: advertiserId,
    event_id: 1,
    event_code: "default",
    is_private: false,
    status: "pending",
    revenue: "15",
    payout: "10",
    currency: "USD",
    payout_type: "cpa",
    payout_rate: "10",
    revenue_type: "rpa",
    revenue_rate: "15",
    method: "api",
    conv_ts: new Date().toISOString(),
    holds_click: false,
    holds_txid: false,
    ...fields,
  };
  const names = Object.keys(row);
  await world.pool.query({
    text: `insert into conversion (${names.join(", ")}) values (${names.map((_, place) => `$${place + 1}`).join(", ")})`,
    values: Object.values(row),
  });
  return id;
}

const Rows = z.array(z.record(z.string(), z.unknown()));

/** `data` of an answer, as a list of any records. */
export function rowsOf({ body }: Answer): Record<string, unknown>[] {
  return Rows.parse(body["data"]);
}

/** `data` of an answer, as one record without an id. */
export function dataOf({ body }: Answer): Json {
  return z.record(z.string(), z.unknown()).parse(body["data"]);
}
