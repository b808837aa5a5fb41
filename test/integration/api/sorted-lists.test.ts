import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, nextCursor, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const { keys, advertiserId } = world.tenant;

const NAMES = ["banana", "Apple", "cherry", "apple", "Éclair", "100% Nuts", "banana"];

/** All pages of a list, two rows each. */
async function walk(path: string, key = keys.admin): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  let cursor = "";
  for (let page = 0; page < 40; page += 1) {
    const answer = await world.get(`${path}&limit=2${cursor}`, key);
    rows.push(...list(answer));
    const next = nextCursor(answer);
    if (next === null) return rows;
    cursor = `&cursor=${next}`;
  }
  throw new Error(`${path} has no end`);
}

const low = (text: unknown): string => String(text).toLowerCase();
/** By bytes, as the index has them. */
const inOrder = (rows: readonly Record<string, unknown>[], column: string): boolean =>
  rows.every(
    (row, at) =>
      at === 0 ||
      Buffer.compare(Buffer.from(low(rows[at - 1]?.[column])), Buffer.from(low(row[column]))) <= 0,
  );

test.each([
  ["/offers", "name", { advertiser_id: advertiserId, destination_url: "https://shop.example/" }],
  ["/offers", "code", undefined],
  ["/offers", "created_at", undefined],
  ["/affiliates", "name", {}],
  ["/affiliates", "code", undefined],
  ["/advertisers", "name", {}],
  ["/advertisers", "created_at", undefined],
] as const)("%s sorted by %s has every row once, in either direction (LIM-015)", async (...one) => {
  const [path, column, body] = one;
  if (body !== undefined)
    for (const name of NAMES) record(await world.post(path, { ...body, name }));
  const whole = await walk(`${path}?sort=-created_at`);
  const up = await walk(`${path}?sort=${column}`);
  expect(inOrder(up, column)).toBe(true);
  expect(new Set(up.map(({ id }) => id))).toEqual(new Set(whole.map(({ id }) => id)));
  expect(up).toHaveLength(whole.length);
  const down = await walk(`${path}?sort=-${column}`);
  expect(down.map(({ id }) => id)).toEqual(up.map(({ id }) => id).toReversed());
});

test("conversions are sorted by their time in either direction (LIM-015)", async () => {
  const offer = await world.offer({ name: "Sorted" });
  for (const txid of ["a", "b", "c", "d", "e"]) {
    const body = { offer_id: offer.id, affiliate_id: world.tenant.affiliateId, adv_txid: txid };
    expect((await world.post("/conversions", body)).status).toBe(201);
  }
  const newest = await walk(`/conversions?preset=today&offer_id=${offer.id}`);
  const oldest = await walk(`/conversions?preset=today&sort=conv_ts&offer_id=${offer.id}`);
  expect(newest).toHaveLength(5);
  expect(oldest.map(({ id }) => id)).toEqual(newest.map(({ id }) => id).toReversed());
  const same = await walk(`/conversions?preset=today&sort=-conv_ts&offer_id=${offer.id}`);
  expect(same).toEqual(newest);
});

test("a row that is added between two sorted pages moves no other one (LIM-015, LIM-010)", async () => {
  const first = await world.get("/advertisers?sort=name&limit=3");
  const all = await walk("/advertisers?sort=name");
  await world.post("/advertisers", { name: " before all" });
  const rest = await walk(`/advertisers?sort=name`);
  const next = await world.get(
    `/advertisers?sort=name&limit=200&cursor=${String(nextCursor(first))}`,
  );
  const ids = [...list(first), ...list(next)].map(({ id }) => id);
  expect(ids).toEqual(all.map(({ id }) => id));
  expect(rest).toHaveLength(all.length + 1);
});

test("a partner sorts the offers that it sees (LIM-015)", async () => {
  const rows = await walk("/offers?sort=name", keys.partner);
  expect(rows.length).toBeGreaterThan(3);
  expect(inOrder(rows, "name")).toBe(true);
});

test("another column is refused, and a cursor is for its order only (LIM-015)", async () => {
  for (const path of ["/offers", "/affiliates", "/advertisers", "/conversions"])
    for (const sort of ["payout", "-revenue", "notes", "name desc", "--name", ""]) {
      const answer = await world.get(`${path}?sort=${encodeURIComponent(sort)}`);
      expect([path, sort, refusal(answer)]).toEqual([path, sort, "400 invalid_parameter"]);
      expect(details(answer)["param"]).toBe("sort");
    }
  const cursor = String(nextCursor(await world.get("/offers?sort=name&limit=1")));
  for (const other of ["", "&sort=-name", "&sort=code"])
    expect(refusal(await world.get(`/offers?limit=1${other}&cursor=${cursor}`))).toBe(
      "400 invalid_cursor",
    );
});
