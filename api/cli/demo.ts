import { canonicalHost } from "../../schemas/catalog/tracking-host.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { SecretKeys } from "../../schemas/secrets/secret-keys.ts";
import { insertKey } from "../access/insert-key.ts";
import { advertisers } from "../catalog/advertisers/advertisers.ts";
import { affiliates } from "../catalog/affiliates/affiliates.ts";
import { paymentTextsField } from "../catalog/affiliates/sealed-details.ts";
import { insertOfferWithEvents } from "../catalog/offers/create-offer.ts";
import { setAccess } from "../catalog/offers/set-partner-access.ts";
import { insertWorkspace } from "../catalog/workspace/insert-workspace.ts";
import type { CommandEnvironment } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { DEMO_OFFERS, type DemoOffer } from "./demo-offers.ts";
import { findHostOwner, shareHost } from "./shared-hosts.ts";
import { findWorkspace } from "./workspaces.ts";

/** The output of `demo --json` and the content of DATA_DIR/demo.json. */
export type Demo = {
  readonly base_url: string;
  readonly mcp_url: string;
  readonly tracking_url: string;
  readonly workspace_id: number;
  readonly postback_token: string;
  readonly advertiser_postback_token: string;
  readonly keys: {
    readonly admin: string;
    readonly analyst: string;
    readonly partner: string;
    readonly advertiser: string;
  };
  readonly links: {
    readonly affiliate: string;
    readonly transparent: string;
    readonly smart: string;
  };
};

export type DemoAddresses = { readonly apiUrl: string; readonly trackingUrl: string };
type DemoEnvironment = DemoAddresses & Pick<CommandEnvironment, "secretKeys">;

export const DEMO_SLUG = "demo";
const CURRENCY = "USD";
/** Dana has not said yet how to be paid. The accounts are those of examples. */
const PARTNERS = [
  {
    code: "DEMOANNA",
    name: "Anna's blog",
    payment_method: "wire",
    details: { holder: "Anna Example", iban: "DE89370400440532013000" },
  },
  {
    code: "DEMOBOB",
    name: "Bob's coupons",
    payment_method: "wire",
    details: { holder: "Bob Example", iban: "FR1420041010050500013M02606" },
  },
  {
    code: "DEMOCLEO",
    name: "Cleo's ads",
    payment_method: "wallet_a",
    details: { account: "cleo@ads.example" },
  },
  { code: "DEMODANA", name: "Dana's newsletter", details: {} },
  {
    code: "DEMOEMIL",
    name: "Emil's videos",
    min_payout: "50",
    payment_method: "wallet_a",
    details: { account: "emil@videos.example" },
  },
] as const;
export const [FIRST_PARTNER] = PARTNERS;
const SMART_CODE = "DEMOSMART";
const LINK_KEY = "demo-shop-anna";
/** Lock number that stops two concurrent demos from creating the workspace twice. Any number that nothing else uses. */
const DEMO_LOCK = 7_265_002;

/**
 * Creates the workspace `demo` with all its records. With `newKeys`, only creates more keys for the existing one.
 * @throws {CommandError} when the demo exists and `newKeys` is not set.
 */
export async function makeDemo(
  db: Pool,
  environment: DemoEnvironment,
  options: { readonly newKeys: boolean },
): Promise<Demo> {
  return await inTransaction(db, async (tx) => {
    await tx.query({
      name: "lock-demo",
      text: "select pg_advisory_xact_lock($1)",
      values: [DEMO_LOCK],
    });
    const existing = await findWorkspace(tx, DEMO_SLUG);
    if (existing !== undefined && !options.newKeys) {
      throw new CommandError(
        "Workspace demo exists already. Its keys were shown when it was created; `demo --new-keys` creates more.",
      );
    }
    const { workspaceId, adminKey } =
      existing === undefined
        ? await fillWorkspace(tx, environment)
        : { workspaceId: existing.id, adminKey: undefined };
    return await describe(tx, environment, { workspaceId, adminKey });
  });
}

async function fillWorkspace(
  tx: Queryable,
  { trackingUrl, secretKeys }: DemoEnvironment,
): Promise<{ workspaceId: number; adminKey: string }> {
  const workspace = {
    name: "Demo",
    slug: DEMO_SLUG,
    timezone: "UTC",
    currency: CURRENCY,
    trackingUrl,
  };
  const { id, adminKey, hasDomain } = await insertWorkspace(tx, workspace);
  if (!hasDomain) await addTrackingHost(tx, { id, slug: DEMO_SLUG }, new URL(trackingUrl));
  const partnerIds = await insertPartners(tx, id, new SecretKeys(secretKeys.read));
  const offerIds = await insertOffers(tx, id);
  const offerId = (code: string): number => offerIds.get(code) ?? 0;
  const [anna = 0, bob = 0, cleo = 0] = partnerIds;
  const team = offerId("DEMOTEAM");
  await setAccess(tx, { offerId: team, affiliateId: anna, status: "approved", note: "" });
  await setAccess(tx, { offerId: team, affiliateId: bob, status: "pending", note: "asks for it" });
  await setAccess(tx, { offerId: team, affiliateId: cleo, status: "rejected", note: "" });
  await insertLinks(tx, id, {
    offerId: offerId("DEMOSHOP"),
    affiliateId: anna,
    smart: [
      { offer_id: offerId("DEMOSHOP"), weight: 2 },
      { offer_id: offerId("DEMOTRIAL"), weight: 1 },
    ],
  });
  return { workspaceId: id, adminKey };
}

/**
 * Links of the demo use the host of the tracking URL: as the demo's own host if no workspace has it, else as a
 * shared host.
 */
async function addTrackingHost(
  tx: Queryable,
  demo: { readonly id: number; readonly slug: string },
  { host, protocol }: URL,
): Promise<void> {
  if ((await findHostOwner(tx, host)) !== undefined) {
    await shareHost(tx, host, demo);
    return;
  }
  await tx.query({
    name: "insert-demo-domain",
    text: "insert into tracking_domain (workspace_id, host, scheme, is_default) values ($1, $2, $3, true)",
    values: [demo.id, canonicalHost(host), protocol.replace(":", "")],
  });
}

async function insertPartners(
  tx: Queryable,
  workspaceId: number,
  keys: SecretKeys,
): Promise<number[]> {
  const ids: number[] = [];
  for (const { details, ...partner } of PARTNERS) {
    const values = { ...partner, country: "DE", tags: ["demo"], currency: CURRENCY };
    const { id } = await affiliates.insert(tx, workspaceId, values);
    if (keys.sealingId !== undefined) await sealDetails(tx, keys, { id, details });
    ids.push(id);
  }
  return ids;
}

/** As details that a partner had from the beginning: a change would hold its payouts. */
async function sealDetails(
  tx: Queryable,
  keys: SecretKeys,
  { id, details }: { readonly id: number; readonly details: Readonly<Record<string, string>> },
): Promise<void> {
  await tx.query({
    name: "seal-demo-details",
    text: "update affiliate set payment_details = $2 where id = $1",
    values: [id, paymentTextsField.seal(keys, id, details)],
  });
}

async function insertOffers(tx: Queryable, workspaceId: number): Promise<Map<string, number>> {
  const insertAdvertiser = async (name: string) =>
    await advertisers.insert(tx, workspaceId, { name, currency: CURRENCY });
  const owners = {
    shop: await insertAdvertiser("Demo Shop"),
    software: await insertAdvertiser("Demo Software"),
    travel: await insertAdvertiser("Demo Travel"),
  };
  const ids = new Map<string, number>();
  for (const { advertiser, settings = {}, ...offer } of DEMO_OFFERS) {
    const body = { ...offer, advertiser_id: owners[advertiser].id };
    const { id } = await insertOfferWithEvents(tx, workspaceId, body);
    await setOfferSettings(tx, id, settings);
    ids.set(offer.code, id);
  }
  return ids;
}

async function setOfferSettings(
  tx: Queryable,
  offerId: number,
  { hold_days, min_seconds_to_conversion, fraud_checks }: NonNullable<DemoOffer["settings"]>,
): Promise<void> {
  await tx.query({
    name: "set-demo-offer-settings",
    text: `update offer set hold_days = coalesce($2, hold_days),
             min_seconds_to_conversion = coalesce($3, min_seconds_to_conversion),
             fraud_checks = coalesce($4::jsonb, fraud_checks)
           where id = $1`,
    values: [
      offerId,
      hold_days,
      min_seconds_to_conversion,
      fraud_checks && JSON.stringify(fraud_checks),
    ],
  });
}

async function insertLinks(
  tx: Queryable,
  workspaceId: number,
  links: {
    readonly offerId: number;
    readonly affiliateId: number;
    readonly smart: readonly { readonly offer_id: number; readonly weight: number }[];
  },
): Promise<void> {
  await tx.query({
    name: "insert-demo-link-key",
    text: "insert into link_key (workspace_id, key, offer_id, affiliate_id) values ($1, $2, $3, $4)",
    values: [workspaceId, LINK_KEY, links.offerId, links.affiliateId],
  });
  await tx.query({
    name: "insert-demo-smart-link",
    text: `insert into smart_link (workspace_id, code, name, affiliate_id, mode, rules)
           values ($1, $2, 'Demo', $3, 'weighted', $4)`,
    values: [
      workspaceId,
      SMART_CODE,
      links.affiliateId,
      JSON.stringify([{ name: "everybody", conditions: {}, offers: links.smart }]),
    ],
  });
}

type Account = {
  affiliate_id: number;
  advertiser_id: number;
  postback_token: string;
  advertiser_token: string;
};

async function describe(
  tx: Queryable,
  { apiUrl, trackingUrl }: DemoAddresses,
  {
    workspaceId,
    adminKey,
  }: { readonly workspaceId: number; readonly adminKey: string | undefined },
): Promise<Demo> {
  const { rows } = await tx.query<Account>({
    name: "find-demo-accounts",
    text: `select f.id as affiliate_id, a.id as advertiser_id, w.postback_token, a.postback_token as advertiser_token
           from workspace w join affiliate f on f.workspace_id = w.id and f.code = $2
           join advertiser a on a.workspace_id = w.id
           where w.id = $1 order by a.id limit 1`,
    values: [workspaceId, FIRST_PARTNER.code],
  });
  const [account] = rows;
  if (account === undefined) {
    throw new CommandError(
      "Workspace demo exists, but its partner DEMOANNA or its advertisers are gone.",
    );
  }
  const key = { workspaceId };
  return {
    base_url: `${apiUrl}/api/v1`,
    mcp_url: `${apiUrl}/mcp`,
    tracking_url: trackingUrl,
    workspace_id: workspaceId,
    postback_token: account.postback_token,
    advertiser_postback_token: account.advertiser_token,
    keys: {
      admin: adminKey ?? (await insertKey(tx, { ...key, role: "admin", name: "Demo admin" })),
      analyst: await insertKey(tx, { ...key, role: "analyst", name: "Demo analyst" }),
      partner: await insertKey(tx, {
        ...key,
        role: "partner",
        name: "Demo partner",
        affiliateId: account.affiliate_id,
      }),
      advertiser: await insertKey(tx, {
        ...key,
        role: "advertiser",
        name: "Demo advertiser",
        advertiserId: account.advertiser_id,
      }),
    },
    links: {
      affiliate: `${trackingUrl}/r/DEMOSHOP/${FIRST_PARTNER.code}`,
      transparent: `${trackingUrl}/c/${LINK_KEY}`,
      smart: `${trackingUrl}/s/${SMART_CODE}`,
    },
  };
}
