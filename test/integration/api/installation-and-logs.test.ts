import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { noteFeedFailed, noteFeedIsOff } from "../../../schemas/postgres/fx-feed.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { ApiWorld, details, list, nextCursor, refusal } from "./api-world.ts";
import { untilWaiting } from "./locked-table.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");

const put = async (path: string, body: unknown, key = world.tenant.keys.admin) =>
  await world.call("PUT", path, { key, body });

test("the blocklist is replaced as a whole, each entry once (G142)", async () => {
  expect((await world.get("/blocklist")).body).toEqual({ data: { entries: [], installation: [] } });
  const first = await put("/blocklist", {
    entries: ["Bad.Example", "worse.example/Path", "bad.example"],
  });
  expect(first.body).toEqual({
    data: { entries: ["bad.example", "worse.example/Path"], installation: [] },
  });
  await put("/blocklist", { entries: ["bad.example", "new.example"] });
  expect((await world.get("/blocklist", world.tenant.keys.analyst)).body).toEqual({
    data: { entries: ["bad.example", "new.example"], installation: [] },
  });
  const wrong = await put("/blocklist", { entries: ["ok.example", "https://x.example"] });
  expect([refusal(wrong), Object.keys(details(wrong).fields ?? {})]).toEqual([
    "400 validation_failed",
    ["entries[1]"],
  ]);
  expect(refusal(await put("/blocklist", { entries: [] }, world.tenant.keys.partner))).toBe(
    "403 forbidden",
  );
  expect((await world.get("/blocklist")).body).toEqual({
    data: { entries: ["bad.example", "new.example"], installation: [] },
  });
});

test("of two lists put at once one is stored whole (G142)", async () => {
  await put("/blocklist", { entries: ["old.example"] });
  const answers = await inTransaction(world.pool, async (tx) => {
    await tx.query({ text: "select from workspace_blocklist_entry for update" });
    const sent = ["a.example", "b.example"].map(async (host) =>
      put("/blocklist", { entries: [host] }),
    );
    await untilWaiting(world.pool, 2);
    return sent;
  });
  await Promise.all(answers);
  const stored = await world.get("/blocklist");
  expect([["a.example"], ["b.example"]]).toContainEqual(Entries.parse(stored.body["data"]).entries);
});

const Entries = z.looseObject({ entries: z.array(z.string()) });
const Rates = z.array(z.looseObject({ date: z.string(), currency: z.string(), rate: z.string() }));

test("rates are set singly or in rows, the last of a day counts, and listed with their feed (G221)", async () => {
  const one = await world.post("/fx-rates", {
    date: "2026-03-01",
    currency: "USD",
    rate: "1.0842",
  });
  expect([one.status, one.body]).toMatchObject([
    201,
    { data: { date: "2026-03-01", currency: "USD", rate: "1.0842" } },
  ]);
  const rows = [
    { date: "2026-03-02", currency: "USD", rate: "1.09" },
    { date: "2026-03-02", currency: "GBP", rate: "0.8501230000" },
    { date: "2026-03-02", currency: "USD", rate: "1.1" },
  ];
  expect((await world.post("/fx-rates", { rows })).status).toBe(201);
  const listed = Rates.parse((await world.get("/fx-rates")).body["data"]);
  expect(listed.map(({ date, currency, rate }) => [date, currency, rate])).toEqual([
    ["2026-03-02", "USD", "1.1"],
    ["2026-03-02", "GBP", "0.850123"],
    ["2026-03-01", "USD", "1.0842"],
  ]);
  const page = await world.get("/fx-rates?limit=2");
  expect(page.body["feed"]).toMatchObject({ state: "unread", source: "", error: "" });
  await noteFeedIsOff(world.pool);
  expect((await world.get("/fx-rates")).body["feed"]).toMatchObject({ state: "off", source: "" });
  await noteFeedFailed(world.pool, { source: "rates.example", error: "ENOTFOUND" });
  expect((await world.get("/fx-rates")).body["feed"]).toMatchObject({
    state: "failed",
    source: "rates.example",
    error: "ENOTFOUND",
  });
  const rest = await world.get(`/fx-rates?limit=2&cursor=${String(nextCursor(page))}`);
  expect(Rates.parse(rest.body["data"])).toHaveLength(1);
  expect(Rates.parse((await world.get("/fx-rates?currency=GBP")).body["data"])).toHaveLength(1);
});

test("uploads of the same rates in opposite order at once are all stored and answered in their order", async () => {
  const rows = Array.from({ length: 2_000 }, (_, day) => ({
    date: new Date(Date.UTC(2000, 0, 1 + day)).toISOString().slice(0, 10),
    currency: "CHF",
    rate: "0.95",
  }));
  const pairs = [rows, rows.toReversed()].map((order) => ({ rows: order }));
  for (let pair = 0; pair < 10; pair += 1) {
    const answers = await Promise.all(
      pairs.map(async (body) => await world.post("/fx-rates", body)),
    );
    const firstDays = answers.map(({ status, body }) => [
      status,
      Rates.parse(body["data"])[0]?.date,
    ]);
    expect(firstDays).toEqual(pairs.map(({ rows: [first] }) => [201, first?.date]));
  }
});

test.each([
  ["date", { currency: "USD", rate: "1" }],
  ["date", { date: "2026-02-30", currency: "USD", rate: "1" }],
  ["currency", { date: "2026-02-01", currency: "EUR", rate: "1" }],
  ["rate", { date: "2026-02-01", currency: "USD", rate: "0.000" }],
  ["rate", { date: "2026-02-01", currency: "USD", rate: 1.5 }],
  ["rows[0].rate", { rows: [{ date: "2026-02-01", currency: "USD", rate: "-1" }] }],
  ["rate", { rows: [{ date: "2026-02-01", currency: "USD", rate: "1" }], rate: "1" }],
] as const)(
  "POST /fx-rates: a wrong %s is refused with its name, and nothing is stored",
  async (field, body) => {
    const answer = await world.post("/fx-rates", body);
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(Object.keys(details(answer).fields ?? {})).toEqual([field]);
    expect(JSON.stringify((await world.get("/fx-rates?limit=200")).body)).not.toContain("2026-02");
  },
);

test("the audit log has every write of the workspace, also refused ones, and no others (G177)", async () => {
  const { keys } = world.tenant;
  await world.post("/offers", {});
  await world.post("/offers", {}, keys.analyst);
  await world.post("/affiliates", { name: "theirs" }, foreign.keys.admin);
  const answer = await world.get("/audit-log?action=/offers");
  const rows = list(answer);
  expect(rows.slice(0, 2)).toMatchObject([
    { action: "rest POST /api/v1/offers", status: 403, user: "analyst", ip: "127.0.0.1" },
    { action: "rest POST /api/v1/offers", status: 400 },
  ]);
  expect(answer.body["range"]).toMatchObject({ tz: "UTC" });
  const all = list(await world.get("/audit-log?limit=200"));
  expect(all.some((row) => row["action"] === "rest POST /api/v1/affiliates")).toBe(false);
  const byKey = list(await world.get(`/audit-log?key_id=${String(rows[0]?.["key_id"])}`));
  expect(byKey.every((row) => row["user"] === "analyst")).toBe(true);
  const pages: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page = await world.get(`/audit-log?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
    pages.push(...list(page).map(({ id }) => id));
    cursor = nextCursor(page);
  } while (cursor !== null && pages.length < 1_000);
  expect(pages).toEqual(all.map(({ id }) => id));
  expect((await world.get("/audit-log", keys.analyst)).status).toBe(200);
  expect(refusal(await world.get("/audit-log", keys.partner))).toBe("403 forbidden");
});

test("a write whose client resets its connection at once is in the audit log (G177)", async () => {
  const { hostname, port } = new URL(world.origin);
  const path = "/api/v1/keys/999999";
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  socket.write(
    `DELETE ${path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer ${world.tenant.keys.admin}\r\n\r\n`,
  );
  socket.resetAndDestroy();
  const entry = async () =>
    await world.rows("select host(ip) as ip, status from audit_log where action = $1", [
      `rest DELETE ${path}`,
    ]);
  await until("it is recorded", async () => (await entry()).length === 1);
  expect(await entry()).toEqual([{ ip: null, status: 404 }]);
});

test("the inbound log is filtered, and has rows of the own workspace only (G178)", async () => {
  const conversionId = "0b6f2a35-9d51-4a7e-8a1e-1d2c3b4a5f60";
  const insert = async (workspaceId: number, result: string, message: string) => {
    await world.pool.query({
      text: `insert into postback_log (workspace_id, endpoint, ip, token_owner, params, http_status, result, click_id,
               conversion_id, message)
             values ($1, '/pb', '203.0.113.9', 'workspace', '{"token":"***"}', 200, $2, $3, $4, $5)`,
      values: [workspaceId, result, "ab".repeat(16), conversionId, message],
    });
  };
  await insert(world.tenant.workspaceId, "approved", "");
  await insert(world.tenant.workspaceId, "unknown_click", "unknown click_id");
  await insert(foreign.workspaceId, "approved", "theirs");
  const all = list(await world.get("/postback-log"));
  expect(all.map((row) => row["result"])).toEqual(["unknown_click", "approved"]);
  expect(all[1]).toMatchObject({
    endpoint: "/pb",
    ip: "203.0.113.9",
    token_owner: "workspace",
    params: { token: "***" },
    http_status: 200,
    conversion_id: conversionId,
    click_id: "ab".repeat(16),
  });
  const count = async (query: string): Promise<number> =>
    list(await world.get(`/postback-log?${query}`)).length;
  expect(await count("result=approved")).toBe(1);
  expect(await count(`click_id=${"AB".repeat(16)}`)).toBe(2);
  expect(await count(`conversion_id=${conversionId}&result=unknown_click`)).toBe(1);
  expect(await count("from=2020-01-01&to=2020-02-01")).toBe(0);
  expect(refusal(await world.get("/postback-log?from=2020-01-01&to=2021-01-01"))).toBe(
    "400 invalid_parameter",
  );
  expect(refusal(await world.get("/postback-log?click_id=x"))).toBe("400 invalid_parameter");
  expect(refusal(await world.get("/postback-log", world.tenant.keys.advertiser))).toBe(
    "403 forbidden",
  );
});
