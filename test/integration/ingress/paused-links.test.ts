import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { lineOf } from "./click-answer.ts";
import { ClickPathsWorld, PARTNER } from "./click-paths-world.ts";

const LINK_KEY = "paused-links-key";
const TARGET = "https://landing.example/p?a=1&b=%20";
const OWN_FALLBACK = "https://own.example/";
const WORKSPACE_FALLBACK = "https://ws.example/";

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main", {
  default_fallback_url: WORKSPACE_FALLBACK,
  allowed_destinations: ["landing.example"],
});
const shopId = await world.addOffer(main, "SHOP");
await world.store.insert("link_key", {
  workspace_id: main.id,
  key: LINK_KEY,
  offer_id: shopId,
  affiliate_id: main.affiliateId,
});
// A waterfall: a weighted link would record no_match instead of the reason.
await world.addSmartLink(main, "SMART", {
  mode: "waterfall",
  rules: [{ name: "all", conditions: {}, offers: [{ offer_id: shopId, weight: 1 }] }],
});
await world.untilCurrent();

async function patch(path: string, body: unknown): Promise<Record<string, unknown>> {
  const written = await world.write("PATCH", path, main.adminKey, body);
  await world.untilCurrent();
  return z.record(z.string(), z.unknown()).parse(written);
}

async function setStatus(table: "advertiser" | "workspace", status: string): Promise<void> {
  const id = table === "workspace" ? main.id : main.advertiserId;
  await world.store.change(`update ${table} set status = $1 where id = $2`, [status, id]);
  await world.untilCurrent();
}

const setOffer = async (status: string): Promise<void> => {
  expect((await patch("/offers/SHOP", { status }))["status"]).toBe(status);
};

/** What is switched off, the reason of its clicks, how to switch it off and on again. */
const STATES = [
  ["the offer is paused", "paused", () => setOffer("paused"), () => setOffer("active")],
  ...(["paused", "inactive"] as const).map(
    (status) =>
      [
        `the advertiser is ${status}`,
        "paused",
        () => setStatus("advertiser", status),
        () => setStatus("advertiser", "active"),
      ] as const,
  ),
  [
    "the workspace is inactive",
    "workspace_inactive",
    () => setStatus("workspace", "inactive"),
    () => setStatus("workspace", "active"),
  ],
] as const;

const LINKS = [
  `/c/${LINK_KEY}?`,
  `/r/SHOP/${PARTNER}?`,
  `/click?oid=SHOP&aid=${PARTNER}&`,
  `/s/SMART-${PARTNER}?`,
];

describe.each(STATES)("%s", (_state, reason, switchOff, switchOn) => {
  test("a redirect to url= does not change, and the click is recorded with the reason (LIFE-047)", async () => {
    await switchOff();
    const answers = [];
    for (const link of LINKS)
      answers.push(await world.ask(`${link}url=${encodeURIComponent(TARGET)}`));
    // An inactive workspace refuses its own keys: its clicks are read afterwards.
    await switchOn();
    for (const [index, answer] of answers.entries()) {
      expect([LINKS[index], lineOf(answer)]).toEqual([LINKS[index], `302 ${TARGET}`]);
      const { status, status_reason, destination } = await world.clickOf(answer, main);
      expect([LINKS[index], status, status_reason, destination]).toEqual([
        LINKS[index],
        "redirect",
        reason,
        TARGET,
      ]);
    }
    expect(await world.follow(`/r/SHOP/${PARTNER}`, main)).toMatchObject([
      "302 https://shop.example/",
      { status: "redirect", status_reason: "" },
    ]);
  });
});

describe("without url= a paused offer leads to the fallback until it is active again (LIFE-048)", () => {
  const fallback = { status: "fallback", status_reason: "paused" };

  test("the offer's own fallback wins over the workspace's", async () => {
    const links = [`/r/SHOP/${PARTNER}`, `/click?oid=SHOP&aid=${PARTNER}`];
    await setOffer("paused");
    for (const link of links)
      expect(await world.follow(link, main)).toMatchObject([
        `302 ${WORKSPACE_FALLBACK}`,
        { ...fallback, offer_id: shopId },
      ]);
    await patch("/offers/SHOP", { fallback_url: OWN_FALLBACK });
    for (const link of links)
      expect(await world.follow(link, main)).toMatchObject([`302 ${OWN_FALLBACK}`, fallback]);
    await setOffer("active");
    for (const link of links)
      expect(await world.follow(link, main)).toMatchObject([
        "302 https://shop.example/",
        { status: "redirect", status_reason: "" },
      ]);
  });
});

describe("a link follows the states of partner, access and offer (LIFE-046)", () => {
  const Access = z.object({ status: z.string(), decided_at: z.string().nullable() });
  const Affiliate = z.object({
    id: z.int(),
    code: z.string(),
    status: z.string(),
    approved_at: z.string().nullable(),
  });

  test("approved_at is the first time a partner was active", async () => {
    const fresh = { name: "Newcomer", status: "pending" };
    const made = Affiliate.parse(await world.write("POST", "/affiliates", main.adminKey, fresh));
    expect(made.approved_at).toBeNull();
    await world.untilCurrent();
    const reasonOf = async (): Promise<unknown> =>
      (await world.follow(`/r/SHOP/${made.code}`, main))[1]["status_reason"];
    expect(await reasonOf()).toBe("not_approved");
    const seen: Affiliate[] = [];
    for (const status of ["active", "blocked", "active"]) {
      const changed = Affiliate.parse(await patch(`/affiliates/${made.id}`, { status }));
      expect([status, changed.status, await reasonOf()]).toEqual([
        status,
        status,
        status === "active" ? "" : "not_approved",
      ]);
      seen.push(changed);
    }
    expect(Date.now() - Date.parse(seen[0]?.approved_at ?? "")).toBeLessThan(60_000);
    expect(new Set(seen.map(({ approved_at }) => approved_at)).size).toBe(1);
  });

  test("each decision on access is dated, and opens or closes the link", async () => {
    await world.addOffer(main, "ASKED", { visibility: "approval" });
    await world.untilCurrent();
    const decide = async (status: string): Promise<z.infer<typeof Access>> => {
      const path = `/offers/ASKED/affiliates/${PARTNER}`;
      const access = Access.parse(await world.write("PUT", path, main.adminKey, { status }));
      await world.untilCurrent();
      expect(access.status).toBe(status);
      return access;
    };
    const reasonOf = async (): Promise<unknown> =>
      (await world.follow(`/r/ASKED/${PARTNER}`, main))[1]["status_reason"];
    expect(await reasonOf()).toBe("not_approved");
    for (const [status, reason] of [
      ["approved", ""],
      ["rejected", "not_approved"],
      ["approved", ""],
    ] as const) {
      const startedAtMs = Date.now();
      const decidedAtMs = Date.parse((await decide(status)).decided_at ?? "");
      expect(Math.abs(decidedAtMs - startedAtMs)).toBeLessThan(10_000);
      expect(await reasonOf()).toBe(reason);
    }
    expect((await decide("pending")).decided_at).toBeNull();
    expect(await reasonOf()).toBe("not_approved");
  });

  type Affiliate = z.infer<typeof Affiliate>;
});
