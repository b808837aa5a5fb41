import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { createWorkspace } from "../../api/cli/workspaces.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { opsPortsOf } from "../system/ops-ports.ts";
import { ServiceClient } from "../system/service.ts";
import { until } from "../system/until.ts";
import {
  WORLD_TIMEZONE,
  type World,
  type WorldControl,
  type WorldLinkKey,
  type WorldOffer,
  type WorldPartner,
  type WorldSmartLink,
} from "./world.ts";
import { type OfferPlan, planOffers, SORRY } from "./world-offers.ts";

const PARTNERS = ["ANNA01", "BERND2", "CLARA3", "DIRK04"];
const APPLIED_MS = 10_000;

const Created = z.object({ data: z.object({ id: z.int() }) });
const CreatedOffer = z.object({
  data: z.object({
    id: z.int(),
    code: z.string(),
    currency: z.string(),
    payout_type: z.enum(["cpa", "cps", "cpc"]),
    payout: z.string(),
    revenue_type: z.enum(["rpa", "rps", "rpc"]),
    revenue: z.string(),
    destination_url: z.string(),
    fallback_url: z.string(),
  }),
});

export type SetUpOptions = {
  /** Client of the demo workspace, which has the addresses of the service. */
  readonly client: ServiceClient;
  readonly postgresUrl: string;
  /** DATA_DIR of the service. */
  readonly dataDir: string;
  /** Unique among all runs. */
  readonly run: string;
  readonly lines: number;
};

/**
 * Makes a workspace with offers, partners and links that have every kind of rule, and waits until ingress and the conversion
 * processor have applied them. The caller closes the returned client.
 */
export async function setUpWorld(
  options: SetUpOptions,
): Promise<{ world: World; client: ServiceClient }> {
  const { run } = options;
  const pool = openPool({
    url: options.postgresUrl,
    applicationName: "replay",
    connectionsMax: 2,
  });
  try {
    const made = await createWorkspace(pool, {
      name: `Replay ${run}`,
      slug: run,
      currency: "USD",
      timezone: WORLD_TIMEZONE,
    });
    const { demo } = options.client;
    const client = new ServiceClient({
      ...demo,
      workspace_id: made.id,
      postback_token: made.postbackToken,
      keys: { ...demo.keys, admin: made.adminKey },
    });
    const world = await fillWorld({ pool, client, workspaceId: made.id }, options);
    await untilApplied(pool, { client, dataDir: options.dataDir }, world);
    return { world, client };
  } finally {
    await pool.end();
  }
}

type Target = { readonly pool: Pool; readonly client: ServiceClient; readonly workspaceId: number };

async function fillWorld(target: Target, { run, lines }: SetUpOptions): Promise<World> {
  const { pool, client, workspaceId } = target;
  const host = `${run}.replay.example`;
  const fallbackUrl = `${SORRY}.workspace.example/?cid={click_id}&aff={affiliate_code}`;
  await pool.query({
    text: `update workspace set default_fallback_url = $2, allowed_destinations = $3 where id = $1`,
    values: [workspaceId, fallbackUrl, ["*.allowed.example"]],
  });
  await pool.query({
    text: `insert into tracking_domain (workspace_id, host, scheme, is_default) values ($1, $2, 'http', true)`,
    values: [workspaceId, host],
  });
  const partners: WorldPartner[] = [];
  for (const code of PARTNERS) {
    const answer = await client.create("/affiliates", { name: `Replay ${code}`, code });
    partners.push({ id: Created.parse(answer).data.id, code });
  }
  const offers = await makeOffers(target, planOffers(lines, Date.now()), partners);
  const controls = await makeControls(target, offers);
  const smartLinks = await makeSmartLinks(target, offers);
  const linkKeys = await makeLinkKeys(target, { offers, partners, run });
  return {
    isFresh: true,
    host,
    postbackToken: client.demo.postback_token,
    fallbackUrl,
    offers,
    partners,
    smartLinks,
    controls,
    linkKeys,
  };
}

async function makeOffers(
  { pool, client }: Target,
  plans: readonly OfferPlan[],
  partners: readonly WorldPartner[],
): Promise<WorldOffer[]> {
  const advertiser = Created.parse(await client.create("/advertisers", { name: "Replay shops" }));
  const ids = new Map<string, number>();
  const offers: WorldOffer[] = [];
  for (const { key, body, rules, approved } of plans) {
    const answer = await client.create("/offers", { ...body, advertiser_id: advertiser.data.id });
    const { data } = CreatedOffer.parse(answer);
    ids.set(key, data.id);
    const approvedIds = approved?.flatMap((at) => partners[at]?.id ?? []);
    offers.push({
      ...data,
      rules: { ...rules, ...(approvedIds === undefined ? {} : { approvedIds }) },
    });
    if (approvedIds !== undefined) await approve(client, data.id, { approvedIds, partners });
  }
  return await Promise.all(
    offers.map(async (offer, at) => {
      const failRouteId = ids.get(plans[at]?.failRoute ?? "");
      await pool.query({
        text: "update offer set duplicate_click_seconds = $2, fail_route_offer_id = $3 where id = $1",
        values: [offer.id, offer.rules.duplicateSeconds ?? 0, failRouteId ?? null],
      });
      return failRouteId === undefined
        ? offer
        : { ...offer, rules: { ...offer.rules, failRouteId } };
    }),
  );
}

/** Approves some partners and rejects the others. The third has no record at all. */
async function approve(
  client: ServiceClient,
  offerId: number,
  who: { readonly approvedIds: readonly number[]; readonly partners: readonly WorldPartner[] },
): Promise<void> {
  for (const { id, code } of who.partners.filter((_, at) => at !== 2)) {
    const status = who.approvedIds.includes(id) ? "approved" : "rejected";
    await client.send("PUT", `/offers/${offerId}/affiliates/${code}`, { status });
  }
}

async function makeControls(
  target: Target,
  offers: readonly WorldOffer[],
): Promise<WorldControl[]> {
  const id = idByCode(offers);
  const controls: WorldControl[] = [
    { offerIds: [id("CONTROLLED"), id("CAPTOTAL"), id("ONCE")], countries: ["RU", "CN", "FR"] },
    { offerIds: [id("CONTROLLED"), id("SENTON")], userAgentContains: ["GOOGLEBOT", "yandex"] },
    { offerIds: [id("CONTROLLED")], network: "208.115" },
    { offerIds: [id("CONTROLLED")], sub4: "elsewhere", forwardToId: id("EUROPE") },
    { offerIds: [id("SENTON")], forwardToId: id("TAKER") },
  ];
  for (const [at, control] of controls.entries()) {
    const { offerIds, countries, userAgentContains, network, sub4, forwardToId } = control;
    const conditions = {
      offer_ids: offerIds,
      ...(countries === undefined ? {} : { countries }),
      ...(userAgentContains === undefined ? {} : { user_agent_contains: userAgentContains }),
      ...(network === undefined ? {} : { ip_ranges: [`${network}.0.0/16`] }),
      ...(sub4 === undefined ? {} : { sub: { sub4: [sub4] } }),
    };
    await target.pool.query({
      text: `insert into traffic_control (workspace_id, name, conditions, action, forward_offer_id) values ($1, $2, $3, $4, $5)`,
      values: [
        target.workspaceId,
        `Replay ${at}`,
        JSON.stringify(conditions),
        forwardToId === undefined ? "block" : "forward",
        forwardToId ?? null,
      ],
    });
  }
  return controls;
}

async function makeSmartLinks(
  target: Target,
  offers: readonly WorldOffer[],
): Promise<WorldSmartLink[]> {
  const id = idByCode(offers);
  const of = (...shares: readonly (readonly [code: string, weight: number])[]) =>
    shares.map(([code, weight]) => ({ id: id(code), weight }));
  const links: Omit<WorldSmartLink, "id" | "code">[] = [
    {
      mode: "weighted",
      isPaused: false,
      rules: [
        {
          conditions: { countries_allow: ["US", "CA"] },
          offers: of(["OPEN", 3], ["SALE", 1], ["CLICK", 0]),
        },
        {
          conditions: { devices_allow: ["desktop"] },
          offers: of(["PENCE", 1], ["CLICK", 1], ["CAPDAY", 2], ["ONCE", 2]),
        },
        {
          conditions: { devices_allow: ["mobile", "other"] },
          offers: of(["OPEN", 0], ["SALE", 0]),
        },
      ],
    },
    {
      mode: "waterfall",
      isPaused: false,
      rules: [
        {
          conditions: { browsers_deny: ["IE"] },
          offers: of(["NIGHT", 1], ["CAPTOTAL", 1], ["CONTROLLED", 1], ["EUROPE", 1]),
        },
        { conditions: {}, offers: of(["CAPCONV", 1], ["APPROVAL", 1], ["CAPALERT", 1]) },
      ],
    },
    {
      mode: "waterfall",
      isPaused: false,
      rules: [{ conditions: {}, offers: of(["SENTON", 1], ["CAPBOTH", 1], ["APPLE", 1]) }],
    },
    {
      mode: "weighted",
      isPaused: true,
      rules: [{ conditions: {}, offers: of(["OPEN", 1]) }],
    },
  ];
  return await Promise.all(
    links.map(async (link, at) => {
      const code = `SMART-${at}`;
      const rules = link.rules.map((rule, number) => ({
        name: `rule ${number}`,
        conditions: rule.conditions,
        offers: rule.offers.map((offer) => ({ offer_id: offer.id, weight: offer.weight })),
      }));
      const status = link.isPaused ? "paused" : "active";
      const { rows } = await target.pool.query<{ id: number }>({
        text: `insert into smart_link (workspace_id, code, name, status, mode, rules)
               values ($1, $2, $2, $3, $4, $5) returning id`,
        values: [target.workspaceId, code, status, link.mode, JSON.stringify(rules)],
      });
      return { ...link, code, id: rows[0]?.id ?? 0 };
    }),
  );
}

async function makeLinkKeys(
  target: Target,
  of: {
    readonly offers: readonly WorldOffer[];
    readonly partners: readonly WorldPartner[];
    readonly run: string;
  },
): Promise<WorldLinkKey[]> {
  const id = idByCode(of.offers);
  const keys = ["OPEN", "CAPTOTAL", "EUROPE"].map((code, at) => ({
    key: `${of.run}key${at}`,
    offerId: id(code),
    partnerId: of.partners[at]?.id ?? 0,
  }));
  for (const { key, offerId, partnerId } of keys) {
    await target.pool.query({
      text: "insert into link_key (workspace_id, key, offer_id, affiliate_id) values ($1, $2, $3, $4)",
      values: [target.workspaceId, key, offerId, partnerId],
    });
  }
  return keys;
}

function idByCode(offers: readonly WorldOffer[]): (code: string) => number {
  return (code) => {
    const found = offers.find((offer) => offer.code === code);
    if (found === undefined) throw new Error(`the replay has no offer ${code}`);
    return found.id;
  };
}

/** Every ingress process shows its catalog version; the conversion processor must accept a test report for the newest offer. */
async function untilApplied(
  pool: Pool,
  { client, dataDir }: Pick<SetUpOptions, "client" | "dataDir">,
  world: World,
): Promise<void> {
  const { rows } = await pool.query<{ version: number }>({
    text: "select last_value as version from catalog_version",
  });
  const version = rows[0]?.version ?? 0;
  const named = await opsPortsOf({ dataDir });
  const ports = [...named].flatMap(([name, port]) => (name.startsWith("ingress-") ? [port] : []));
  const limits = { timeoutMs: APPLIED_MS };
  await until(
    "ingress has applied the replay's workspace",
    async () => {
      const versions = await Promise.all(ports.map((port) => catalogVersionAt(port)));
      const running = versions.filter((applied) => applied !== undefined);
      return running.length > 0 && running.every((applied) => applied >= version);
    },
    limits,
  );
  const query = new URLSearchParams({
    token: world.postbackToken,
    test: "1",
    offer_id: String(world.offers.at(-1)?.id),
    aff_id: String(world.partners.at(-1)?.id),
  });
  await until(
    "the conversion processor has applied the replay's workspace",
    async () => {
      const url = `${client.demo.tracking_url}/pb?${query}`;
      const answer = await client.attempt(url, { host: world.host });
      return answer.status === 200 && answer.body.includes('"ok":true');
    },
    limits,
  );
}

/** Undefined if the process does not run. */
async function catalogVersionAt(port: number): Promise<number | undefined> {
  const Status = z.object({ catalog_version: z.int() });
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/status`);
    return Status.parse(await answer.json()).catalog_version;
  } catch (error) {
    if (error instanceof z.ZodError) throw error;
    return undefined;
  }
}

/** URL of the Postgres of a one-machine service on `dataDir`. */
export async function embeddedPostgresUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, "postgres.password"), "utf8")).trim();
  // The fourth line of the lock file of a running server is its port.
  const lines = (await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n");
  return `postgres://tracker:${password}@127.0.0.1:${lines[3]?.trim() ?? ""}/tracker`;
}
