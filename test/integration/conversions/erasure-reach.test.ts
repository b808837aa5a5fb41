import { expect, test } from "vitest";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import {
  erase as eraseIn,
  repeatAllErasures,
  repeatDueErasure,
} from "../../../schemas/erasure/erasures.ts";
import { until } from "../../system/until.ts";
import { DESCRIBED, ErasureWorld, IP, ZEROS } from "./erasure-world.ts";

const world = await ErasureWorld.open();
const { offerId, stores, tracking } = world;

test("an erasure of another workspace's click leaves the click and its conversions alone (P30, G207)", async () => {
  const workspaceId = await tracking.insert("workspace", {
    slug: "curious",
    name: "Curious",
    postback_token: "curious-token",
  });
  const click = await tracking.addClick({ offer_id: offerId, gclid: "not-theirs", ...DESCRIBED });
  const subject = { kind: "click", clickId: click.click_id } as const;
  expect(await eraseIn(stores, { workspaceId, subject })).toEqual(ZEROS);
  const { body } = await tracking.report({ click_id: click.click_id, ip: IP, amount: "50" });
  const [conversion] = await tracking.rows(
    "select host(conv_ip) as ip from conversion where id = $1",
    [body["conversion_id"]],
  );
  expect(conversion).toEqual({ ip: IP });
  expect(await world.clickRow(click.click_id)).toMatchObject({ ip: IP, gclid: "not-theirs" });
});

test("erasing a visitor keeps the address of the server that reports visitors (#36, G102, G235)", async () => {
  const server = "203.0.113.99";
  const visitor = "198.51.100.81";
  const report = async (
    ip: string,
    params: Record<string, string> = {},
    options: Parameters<typeof tracking.report>[1] = { ip: server },
  ): Promise<{ clickId: string; conversionId: string }> => {
    const { click_id: clickId } = await tracking.addClick({ offer_id: offerId, ...DESCRIBED, ip });
    const { body } = await tracking.report({ click_id: clickId, ...params }, options);
    return { clickId, conversionId: String(body["conversion_id"]) };
  };
  const erased = await report(visitor);
  const others = [
    await report("198.51.100.82"),
    // The advertiser sends the address of its server as the visitor's.
    await report("198.51.100.83", { ip: server }),
  ];
  const again = { txid: "again", user_ip: visitor };
  const named = await report("198.51.100.84", again);
  const pixel = await report("198.51.100.85", {}, { endpoint: "px", ip: visitor });
  const all = [erased, ...others, named, pixel];
  const log = () =>
    tracking.rows<{ ip: string | null; params: Record<string, string> }>(
      `select host(l.ip) as ip, l.params from postback_log l
       join unnest($1::uuid[]) with ordinality c (id, n) on c.id = l.conversion_id order by c.n`,
      [all.map(({ conversionId }) => conversionId)],
    );
  await until("the log has all reports", async () => (await log()).length === all.length, {
    timeoutMs: 10_000,
  });
  await world.erase({ click_id: erased.clickId });
  const rows = await log();
  expect(rows.map(({ ip }) => ip)).toEqual([server, server, server, server, null]);
  expect(rows[2]?.params).toMatchObject({ ip: server });
  expect(rows[3]?.params).toMatchObject({ user_ip: "" });
  // The address that the report names is the visitor's.
  const later = await report("", { user_ip: "198.51.100.86" });
  const seen = await report("198.51.100.87", {}, { endpoint: "px", ip: "198.51.100.86" });
  all.push(later, seen);
  await until("the log has them too", async () => (await log()).length === all.length, {
    timeoutMs: 10_000,
  });
  await world.erase({ click_id: later.clickId });
  expect((await log()).at(-1)).toMatchObject({ ip: null });
  expect((await log()).filter(({ ip }) => ip === server)).toHaveLength(5);
  // Whoever erases an address by itself erases it everywhere.
  expect(await world.erase({ ip: server })).toMatchObject({ log_rows: 5 });
});

test("erasing an address leaves longer ones alone, in clicks and in deliveries (#19, G207)", async () => {
  const [short, long] = ["2001:db8::1", "2001:db8::1f"];
  const visits: Awaited<ReturnType<typeof world.aVisit>>[] = [];
  for (const ip of [short, long])
    visits.push(
      await world.aVisit({ ip: "198.51.100.61", destination: `https://shop.example/?ip=${ip}` }),
    );
  const [of, other] = visits;
  for (const [visit, ip] of [
    [of, short],
    [other, long],
  ] as const)
    await tracking.rows("update delivery set url = $2 where conversion_id = $1", [
      visit?.conversionId,
      `https://partner.example/?ip=${encodeURIComponent(ip)}`,
    ]);
  const urls = async () =>
    await tracking.rows(
      "select distinct url from delivery where conversion_id = any($1) order by url",
      [visits.map(({ conversionId }) => conversionId)],
    );
  expect(await world.erase({ ip: short })).toMatchObject({ clicks: 1 });
  expect(await world.clickRow(of?.click.click_id ?? "")).toMatchObject({ destination: "" });
  expect(await world.clickRow(other?.click.click_id ?? "")).toMatchObject({
    destination: `https://shop.example/?ip=${long}`,
  });
  expect(await urls()).toEqual([
    { url: "" },
    { url: `https://partner.example/?ip=${encodeURIComponent(long)}` },
  ]);
});

test("an address is erased again after a restore, however old its clicks are (#19, G207)", async () => {
  const { click } = await world.aVisit({ ip: "198.51.100.62" });
  const old = await tracking.addClick({
    offer_id: offerId,
    ...DESCRIBED,
    ip: "198.51.100.62",
    ageMs: 20 * 86_400_000,
  });
  expect(await world.erase({ ip: "198.51.100.62" })).toMatchObject({ clicks: 2 });
  await tracking.clickhouse.command({
    query: "alter table click update ip = '198.51.100.62' where click_id = unhex({id:String})",
    query_params: { id: old.click_id },
    clickhouse_settings: { mutations_sync: "1" },
  });
  await repeatAllErasures(tracking.pool);
  while (await repeatDueErasure(stores));
  for (const { click_id } of [old, click])
    expect(await world.clickRow(click_id)).toMatchObject({ ip: "" });
});

test("an address with thousands of clicks is erased (#19, G207)", async () => {
  await tracking.clickhouse.command({
    query: `insert into click (workspace_id, ts, click_id, link_type, status, advertiser_id, affiliate_id, offer_id, ip)
      with {endMs: Int64} - number as at
      select {workspaceId: UInt32}, fromUnixTimestamp64Milli(at, 'UTC'),
        toFixedString(concat(unhex(leftPad(hex(at), 12, '0')), unhex(leftPad(hex(number), 20, '0'))), 16), 'affiliate', 'redirect',
        1, 1, {offerId: UInt32}, '198.51.100.63'
      from numbers(4000)`,
    query_params: { endMs: Date.now() - 60_000, workspaceId: tracking.workspaceId, offerId },
  });
  expect(await world.erase({ ip: "198.51.100.63" })).toMatchObject({ clicks: 4_000 });
  expect(await world.erase({ ip: "198.51.100.63" })).toEqual(ZEROS);
});

test("an erasure whose repeat fails does not keep others from being repeated (#19, G207)", async () => {
  await tracking.rows("update erasure set repeat_at = null");
  for (const ip of ["198.51.100.71", "198.51.100.72"]) await world.erase({ ip });
  await tracking.rows(
    "update erasure set repeat_at = clock_timestamp() - interval '1 second' where repeat_at is not null",
  );
  const closed = openClickhouse({ url: tracking.env.CLICKHOUSE_URL, applicationName: "closed" });
  closed.query = () => Promise.reject(new Error("not today"));
  await expect(repeatDueErasure({ ...stores, clickhouse: closed })).rejects.toThrow("not today");
  expect(await repeatDueErasure(stores)).toBe(true);
  const repeats = await tracking.rows("select repeats from erasure order by id desc limit 2");
  expect(repeats.map((row) => Number(row["repeats"])).toSorted((a, b) => a - b)).toEqual([0, 1]);
  await closed.close();
});

test("a visitor's hash stays while the duplicate rule of an offer needs it (#19, G145, G207)", async () => {
  const patient = await tracking.addOffer({ duplicate_click_seconds: 60 * 86_400 });
  const old = await tracking.addClick({ offer_id: patient, ...DESCRIBED, ageMs: 40 * 86_400_000 });
  expect(await world.erase({ click_id: old.click_id })).toMatchObject({ clicks: 1 });
  await repeatAllErasures(tracking.pool);
  while (await repeatDueErasure(stores));
  expect(await world.clickRow(old.click_id)).toMatchObject({ visitor: 77 });
  await tracking.change("update offer set duplicate_click_seconds = 0");
});
