import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, nextCursor, record, type Tenant } from "./api-world.ts";
import { runTracker } from "./run-tracker.ts";

const Rates = z.array(
  z.strictObject({
    date: z.string(),
    currency: z.string(),
    rate: z.string(),
    updated_at: z.string(),
    scope: z.enum(["workspace", "installation"]),
  }),
);

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const first = world.tenant;
const second = await world.addTenant("second");

const today = new Date().toISOString().slice(0, 10);
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

async function blocklistOf({ keys }: Tenant): Promise<unknown> {
  return (await world.get("/blocklist", keys.analyst)).body["data"];
}

async function ratesOf({ keys }: Tenant, query = ""): Promise<string[]> {
  const rates = Rates.parse((await world.get(`/fx-rates${query}`, keys.analyst)).body["data"]);
  return rates.map(({ date, currency, rate, scope }) => `${date} ${currency} ${rate} ${scope}`);
}

test("PUT /blocklist writes the workspace's own list next to the operator's (#14, G201)", async () => {
  const put = (entries: string[], { keys }: Tenant) =>
    world.call("PUT", "/blocklist", { key: keys.admin, body: { entries } });
  await runTracker(world, "blocklist", "add", "Bad.example", "worse.example/x", "bad.example");
  const installation = ["bad.example", "worse.example/x"];
  const answer = await put(["mine.example", "bad.example"], first);
  expect(answer.body).toEqual({
    data: { entries: ["bad.example", "mine.example"], installation },
  });
  expect(await blocklistOf(second)).toEqual({ entries: [], installation });
  await put([], second);
  expect(await blocklistOf(first)).toEqual({
    entries: ["bad.example", "mine.example"],
    installation,
  });
  await runTracker(world, "blocklist", "remove", "worse.example/x", "none.example");
  expect(await runTracker(world, "blocklist", "list")).toBe("bad.example");
  await expect(runTracker(world, "blocklist", "add", "https://x.example")).rejects.toThrow(
    /https:\/\/x\.example: expected a host/,
  );
});

test("POST /fx-rates writes the workspace's own rates next to the installation's (#14, G201)", async () => {
  const rate = { date: today, currency: "USD", rate: "2" };
  const answer = await world.post("/fx-rates", rate, first.keys.admin);
  expect([answer.status, answer.body]).toMatchObject([
    201,
    { data: { ...rate, scope: "workspace" } },
  ]);
  expect(await ratesOf(second)).toEqual([]);
  await runTracker(world, "fx-rates", "set", "USD=4", "GBP=0.5");
  await runTracker(world, "fx-rates", "set", "CHF=1.05", "--date", yesterday);
  const installation = [
    `${today} USD 4 installation`,
    `${today} GBP 0.5 installation`,
    `${yesterday} CHF 1.05 installation`,
  ];
  expect(await ratesOf(second)).toEqual(installation);
  const all = [`${today} USD 2 workspace`, ...installation];
  expect(await ratesOf(first)).toEqual(all);
  expect(await ratesOf(first, "?currency=USD")).toEqual(all.slice(0, 2));
  const paged: string[] = [];
  for (let cursor: string | null = "", pages = 0; cursor !== null && pages < 10; pages += 1) {
    const query = cursor === "" ? "?limit=1" : `?limit=1&cursor=${cursor}`;
    paged.push(...(await ratesOf(first, query)));
    cursor = nextCursor(await world.get(`/fx-rates${query}`, first.keys.analyst));
  }
  expect(paged).toEqual(all);
  expect(await runTracker(world, "fx-rates", "list", "--currency", "USD")).toMatch(
    /USD +4 +operator/,
  );
  await expect(runTracker(world, "fx-rates", "set", "USD=0")).rejects.toThrow(/rate above 0/);
  await expect(runTracker(world, "fx-rates", "set", "EUR=1")).rejects.toThrow(/per EUR/);
});

test("a conversion uses its workspace's rate, else the installation's (#14, G201)", async () => {
  const saleOf = async (tenant: Tenant): Promise<unknown> => {
    const offer = await world.offer(
      { advertiser_id: tenant.advertiserId, currency: "EUR" },
      tenant.keys.admin,
    );
    const sale = { offer_id: offer.id, affiliate_id: tenant.affiliateId };
    const amount = { sale_amount: "100", currency: "SEK" };
    const answer = await world.post("/conversions", { ...sale, ...amount }, tenant.keys.admin);
    return record(answer)["sale_amount"];
  };
  await runTracker(world, "fx-rates", "set", "SEK=10");
  expect([await saleOf(first), await saleOf(second)]).toEqual(["10.0000", "10.0000"]);
  const own = { date: yesterday, currency: "SEK", rate: "8" };
  expect((await world.post("/fx-rates", own, first.keys.admin)).status).toBe(201);
  expect([await saleOf(first), await saleOf(second)]).toEqual(["12.5000", "10.0000"]);
});
