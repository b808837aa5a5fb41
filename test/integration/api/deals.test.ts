import { describe, expect, test } from "vitest";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, list, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
/** Another advertiser of the same workspace. */
const otherAdvertiser = Number(record(await world.post("/advertisers", { name: "Other" })).id);

const HOUR_MS = 3_600_000;
const LISTS = ["/deals", "/product-feeds"] as const;
type Path = (typeof LISTS)[number];

const BODIES: Readonly<Record<Path, Json>> = {
  "/deals": { title: "Ten percent" },
  "/product-feeds": { name: "Shoes", feed_url: "https://shop.example/feed.csv" },
};
const PARTNER_FIELDS: Readonly<Record<Path, readonly string[]>> = {
  "/deals": words(`
  id advertiser offer_id offer_name title description coupon_code landing_url starts_at
  ends_at
`),
  "/product-feeds": words("id advertiser offer_id offer_name name feed_url format description"),
};

async function make(path: Path, fields: Json = {}): Promise<number> {
  const body = { advertiser_id: world.tenant.advertiserId, ...BODIES[path], ...fields };
  const answer = await world.post(path, body);
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  return Number(record(answer).id);
}

/** The `ids` that the key sees, in the order of the list. */
async function seenOf(
  path: Path,
  ids: readonly number[],
  key = world.tenant.keys.partner,
): Promise<unknown[]> {
  const answer = await world.get(path, key);
  expect([answer.status, answer.body["next_cursor"]]).toEqual([200, null]);
  return list(answer)
    .map(({ id }) => id)
    .filter((id) => ids.some((one) => one === id));
}

function hoursFromNow(hours: number): string {
  return new Date(Date.now() + hours * HOUR_MS).toISOString();
}

describe.each(LISTS)("%s", (path) => {
  test("the list is one page, newest first, whatever limit says (DEAL-001, DEAL-007, LIM-011, G250)", async () => {
    const made: number[] = [];
    for (let index = 0; index < 60; index += 1) made.push(await make(path));
    for (const key of Object.values(world.tenant.keys))
      expect(await seenOf(path, made, key)).toEqual(made.toReversed());
    const paged = await world.get(`${path}?limit=5&cursor=`);
    expect(list(paged).map(({ id }) => id)).toEqual(
      list(await world.get(path)).map(({ id }) => id),
    );
    expect((await world.get(`${path}?limit=x`)).status).toBe(400);
    for (const id of made) await world.call("DELETE", `${path}/${id}`);
  });

  test("partners lack advertiser_id, status and updated_at (DEAL-002, DEAL-003, DEAL-008, DEAL-009, VIS-053)", async () => {
    const { keys, advertiserId } = world.tenant;
    const offer = await world.offer({ name: "Shop" });
    const body = { ...BODIES[path], advertiser_id: advertiserId, offer_id: offer.id };
    const created = await world.post(path, body);
    const names = { advertiser: "Advertiser", offer_name: "Shop" };
    expect(record(created)).toMatchObject({ ...body, ...names, status: "active" });
    const hidden = ["advertiser_id", "status", "updated_at"];
    const all = [...PARTNER_FIELDS[path], ...hidden].toSorted();
    for (const key of [keys.admin, keys.analyst, keys.advertiser]) {
      const [row = {}] = list(await world.get(path, key));
      expect(Object.keys(row).toSorted()).toEqual(all);
      expect(row).toEqual(record(created));
    }
    const [row = {}] = list(await world.get(path, keys.partner));
    expect(Object.keys(row).toSorted()).toEqual(PARTNER_FIELDS[path].toSorted());
    expect(row).toMatchObject(names);
  });

  test("a partner sees active deals of offers it can run or of an advertiser (DEAL-004, DEAL-007, G173)", async () => {
    const runnable = await make(path, { offer_id: (await world.offer()).id });
    const wide = await make(path);
    const hidden = [
      await make(path, { status: "inactive" }),
      await make(path, { offer_id: (await world.offer({ visibility: "approval" })).id }),
      await make(path, { offer_id: (await world.offer({ visibility: "private" })).id }),
      await make(path, { offer_id: (await world.offer({ status: "paused" })).id }),
    ];
    expect(await seenOf(path, [runnable, wide, ...hidden])).toEqual([wide, runnable]);
    const [row] = list(await world.get(path, world.tenant.keys.partner));
    expect(row).toMatchObject({ id: wide, offer_id: null, offer_name: "" });
  });

  test("an access decision applies at once (DEAL-004)", async () => {
    const { id: offerId } = await world.offer({ visibility: "approval" });
    const id = await make(path, { offer_id: offerId });
    const decide = async (status: string) => {
      const { affiliateCode } = world.tenant;
      await world.call("PUT", `/offers/${offerId}/affiliates/${affiliateCode}`, {
        body: { status },
      });
      return await seenOf(path, [id]);
    };
    expect([await decide("approved"), await decide("rejected")]).toEqual([[id], []]);
  });

  test("an advertiser sees its own of any status (DEAL-005, VIS-053)", async () => {
    const own = [await make(path), await make(path, { status: "inactive" })];
    const others = await make(path, { advertiser_id: otherAdvertiser });
    const { keys } = world.tenant;
    expect(await seenOf(path, [...own, others], keys.advertiser)).toEqual(own.toReversed());
    expect(await seenOf(path, [...own, others], keys.analyst)).toHaveLength(3);
  });

  test("staff keys need advertisers.read only (DEAL-006)", async () => {
    const { keys, workspaceId } = world.tenant;
    const narrowed = async (permissions: string[] | null) => {
      await world.pool.query({
        text: "update api_key set permissions = $2 where workspace_id = $1 and role = 'analyst'",
        values: [workspaceId, permissions],
      });
      // Another process has not seen the key before.
      const origin = await world.startAnother();
      return await world.callAt(origin, "GET", path, { key: keys.analyst });
    };
    expect(refusal(await narrowed(["offers.read", "deals.read"]))).toBe("403 forbidden");
    expect((await narrowed(["advertisers.read"])).status).toBe(200);
    expect((await narrowed(null)).status).toBe(200);
  });

  test("admins write; PATCH changes the given fields, DELETE removes the record (G179)", async () => {
    const { keys, advertiserId } = world.tenant;
    const id = await make(path);
    const body = { ...BODIES[path], advertiser_id: advertiserId };
    for (const [key, why] of [
      [keys.analyst, "403 read_only_key"],
      [keys.partner, "403 forbidden"],
      [keys.advertiser, "403 forbidden"],
    ] as const) {
      expect(refusal(await world.post(path, body, key))).toBe(why);
      expect(refusal(await world.patch(`${path}/${id}`, { description: "x" }, key))).toBe(why);
      expect(refusal(await world.call("DELETE", `${path}/${id}`, { key }))).toBe(why);
    }
    const { id: offerId } = await world.offer({ name: "Named" });
    const change = { description: "new", status: "inactive", offer_id: offerId };
    const changed = record(await world.patch(`${path}/${id}`, change));
    expect(changed).toMatchObject({ ...body, ...change, offer_name: "Named" });
    expect(record(await world.patch(`${path}/${id}`, change))).toEqual(changed);
    const deleted = await world.call("DELETE", `${path}/${id}`);
    expect(deleted.body).toEqual({ data: { id, deleted: true } });
    expect((await world.patch(`${path}/${id}`, {})).status).toBe(404);
  });

  test("faults are reported by field: owner, offer, text", async () => {
    const { advertiserId } = world.tenant;
    const others = await world.offer({ advertiser_id: otherAdvertiser });
    const theirs = await world.offer({ advertiser_id: foreign.advertiserId }, foreign.keys.admin);
    const rows: [string, Json][] = [
      ["advertiser_id", { advertiser_id: undefined }],
      ["advertiser_id", { advertiser_id: foreign.advertiserId }],
      ["offer_id", { offer_id: others.id }],
      ["offer_id", { offer_id: theirs.id }],
      ["status", { status: "paused" }],
      ["description", { description: 5 }],
      ["advertiser", { advertiser: "x" }],
    ];
    for (const [field, wrong] of rows) {
      const body = { ...BODIES[path], advertiser_id: advertiserId, ...wrong };
      const answer = await world.post(path, body);
      expect([refusal(answer), wrong]).toEqual(["400 validation_failed", wrong]);
      expect([Object.keys(details(answer).fields), wrong]).toEqual([[field], wrong]);
    }
    const id = await make(path, { offer_id: (await world.offer()).id });
    const moved = await world.patch(`${path}/${id}`, { advertiser_id: otherAdvertiser });
    expect(Object.keys(details(moved).fields)).toEqual(["offer_id"]);
  });

  test("records of another workspace are 404 (P30)", async () => {
    const id = await make(path);
    for (const key of Object.values(foreign.keys))
      expect(await seenOf(path, [id], key)).toEqual([]);
    const { admin: key } = foreign.keys;
    expect((await world.patch(`${path}/${id}`, {}, key)).status).toBe(404);
    expect((await world.call("DELETE", `${path}/${id}`, { key })).status).toBe(404);
    expect(await seenOf(path, [id])).toEqual([id]);
  });
});

test("a partner sees a deal from starts_at until ends_at (DEAL-004)", async () => {
  const now = [
    await make("/deals", { starts_at: hoursFromNow(-1), ends_at: hoursFromNow(1) }),
    await make("/deals", { starts_at: hoursFromNow(-1) }),
    await make("/deals", { ends_at: hoursFromNow(1) }),
  ];
  const other = [
    await make("/deals", { starts_at: hoursFromNow(1) }),
    await make("/deals", { starts_at: hoursFromNow(-2), ends_at: hoursFromNow(-1) }),
  ];
  expect(await seenOf("/deals", [...now, ...other])).toEqual(now.toReversed());
  const { admin, advertiser } = world.tenant.keys;
  for (const key of [admin, advertiser])
    expect(await seenOf("/deals", [...now, ...other], key)).toHaveLength(5);
});

test.each([
  ["/deals", "title", { title: "" }],
  ["/deals", "landing_url", { landing_url: "shop" }],
  ["/deals", "starts_at", { starts_at: "tomorrow" }],
  ["/deals", "ends_at", { starts_at: "2026-02-01T00:00:00Z", ends_at: "2026-01-01T00:00:00Z" }],
  ["/deals", "starts_at", { starts_at: "0000-01-01T00:00:00Z" }],
  ["/deals", "ends_at", { ends_at: "9999-12-31T23:59:59-23:00" }],
  ["/deals", "coupon_code", { coupon_code: "x".repeat(65) }],
  ["/product-feeds", "name", { name: "" }],
  ["/product-feeds", "feed_url", { feed_url: "" }],
  ["/product-feeds", "feed_url", { feed_url: "ftp://shop.example/feed" }],
  ["/product-feeds", "format", { format: "pdf" }],
] satisfies [Path, string, Json][])("%s: a fault of %s: %j", async (path, field, wrong) => {
  const body = { advertiser_id: world.tenant.advertiserId, ...BODIES[path], ...wrong };
  const answer = await world.post(path, body);
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(Object.keys(details(answer).fields)).toEqual([field]);
});

test.each(["csv", "tsv", "xml", "json"])("a feed may be %s (DEAL-008)", async (format) => {
  const id = await make("/product-feeds", { format });
  const rows = list(await world.get("/product-feeds"));
  expect(rows.find((row) => row.id === id)).toMatchObject({ format });
});
