import { expect, test } from "vitest";
import { z } from "zod";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, list, record, refusal } from "./api-world.ts";
import { runTracker } from "./run-tracker.ts";

const Demo = z.looseObject({
  workspace_id: z.int(),
  keys: z.strictObject({
    admin: z.string(),
    analyst: z.string(),
    partner: z.string(),
    advertiser: z.string(),
  }),
  links: z.strictObject({ affiliate: z.string(), transparent: z.string(), smart: z.string() }),
});

const world = await forThisFile(ApiWorld.open());

async function tracker(...args: string[]): Promise<string> {
  return await runTracker(world, ...args);
}

test("a workspace from the command line has an owner, a working admin key and a unique slug", async () => {
  const output = await tracker(
    "workspace",
    "create",
    "--name",
    "New Net",
    "--timezone",
    "Asia/Kolkata",
    "--currency",
    "EUR",
  );
  const key = /trk_live_\w{40}/.exec(output)?.[0] ?? "";
  expect((await world.get("/me", key)).body["data"]).toMatchObject({
    key: { role: "admin" },
    workspace: { slug: "new-net", name: "New Net", timezone: "Asia/Kolkata", currency: "EUR" },
  });
  const { rows } = await world.pool.query({
    text: "select u.name from app_user u join workspace w on w.id = u.workspace_id where w.slug = 'new-net'",
  });
  expect(rows).toEqual([{ name: "Owner" }]);
  await expect(tracker("workspace", "create", "--name", "New Net")).rejects.toThrow(/already/);
});

test("keys are created for every role, for accounts of the workspace only (AUTH-012)", async () => {
  const { affiliateCode, advertiserId } = world.tenant;
  const me = async (...args: string[]) => {
    const key = /trk_live_\w{40}/.exec(
      await tracker("key", "create", "--workspace", "first", ...args),
    )?.[0];
    return (await world.get("/me", key)).body["data"];
  };
  expect(await me("--role", "analyst", "--name", "Reader")).toMatchObject({
    key: { role: "analyst", name: "Reader" },
  });
  expect(await me("--role", "partner", "--affiliate", affiliateCode)).toMatchObject({
    affiliate: { code: affiliateCode },
  });
  expect(await me("--role", "advertiser", "--advertiser", String(advertiserId))).toMatchObject({
    advertiser: { id: advertiserId },
  });
  const other = await world.addTenant("other");
  await expect(me("--role", "partner", "--affiliate", other.affiliateCode)).rejects.toThrow(
    /no affiliate/,
  );
  await expect(
    me("--role", "advertiser", "--advertiser", String(other.advertiserId)),
  ).rejects.toThrow(/no advertiser/);
  await expect(me("--role", "partner")).rejects.toThrow(/--affiliate/);
  await expect(me("--role", "admin", "--affiliate", affiliateCode)).rejects.toThrow(/--affiliate/);
  await expect(me("--role", "boss")).rejects.toThrow(/--role boss/);
  await expect(tracker("key", "create", "--workspace", "gone", "--role", "admin")).rejects.toThrow(
    /no workspace gone/,
  );
});

test("a workspace is deactivated and activated again (AUTH-008)", async () => {
  const tenant = await world.addTenant("third");
  await tracker("workspace", "status", "--workspace", "third", "--set", "inactive");
  expect(refusal(await world.get("/me", tenant.keys.admin))).toBe("403 workspace_inactive");
  await tracker("workspace", "status", "--workspace", "third", "--set", "active");
  const fresh = await world.startAnother();
  expect((await world.callAt(fresh, "GET", "/me", { key: tenant.keys.admin })).status).toBe(200);
});

test("the demo is created once and completely, with the keys and links of its records", async () => {
  const demo = Demo.parse(JSON.parse(await tracker("demo", "--json")));
  expect(Object.keys(demo).sort()).toEqual(
    words(`
  base_url mcp_url tracking_url workspace_id postback_token advertiser_postback_token keys
  links
`).sort(),
  );
  const { admin, partner, advertiser, analyst } = demo.keys;
  const offers = list(await world.get("/offers", admin));
  expect(new Set(offers.map((offer) => offer["payout_type"]))).toEqual(
    new Set(["cpa", "cps", "cpc"]),
  );
  expect(new Set(offers.map((offer) => offer["currency"]))).toEqual(new Set(["USD", "EUR"]));
  expect(
    offers.every((offer) => JSON.stringify([offer["targeting"], offer["caps"]]) === "[{},{}]"),
  ).toBe(true);
  expect(list(await world.get("/affiliates", analyst)).length).toBeGreaterThanOrEqual(3);
  expect(list(await world.get("/advertisers", admin))).toHaveLength(3);
  expect(list(await world.get("/offers", advertiser)).length).toBeGreaterThan(0);
  expect(record(await world.get("/offers/DEMOSHOP", partner))).toMatchObject({
    can_run: true,
    tracking_link: demo.links.affiliate,
  });
  const { rows } = await world.pool.query({
    text: "select host, scheme, is_default from tracking_domain where workspace_id = $1",
    values: [demo.workspace_id],
  });
  expect(rows).toEqual([{ host: "127.0.0.1:8080", scheme: "http", is_default: true }]);
  await expect(tracker("demo", "--json")).rejects.toThrow(/already.*--new-keys/);
  const again = Demo.parse(JSON.parse(await tracker("demo", "--json", "--new-keys")));
  expect({ ...again, keys: {} }).toEqual({ ...demo, keys: {} });
  expect(again.keys.admin).not.toBe(admin);
  expect((await world.get("/me", again.keys.admin)).status).toBe(200);
  expect((await world.get("/me", admin)).status).toBe(200);
});
