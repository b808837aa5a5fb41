import assert from "node:assert";
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { closeDueStatements } from "../../../processors/schedule/close-statements.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, ApiWorld, list, nextCursor, refusal } from "../api/api-world.ts";
import { pdfText } from "./pdf-text.ts";
import { StatementBooks } from "./statement-books.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
const { affiliateId, keys, workspaceId } = world.tenant;
const books = new StatementBooks(world, workspaceId);
const offer = await world.offer({ code: "SHOES", name: "Schuhe & <Söhne>" });
const offerId = offer.id;

const Statement = z.looseObject({
  id: z.int(),
  status: z.string(),
  number: z.string().nullable(),
  affiliate_id: z.int(),
  currency: z.string(),
  total: z.string(),
  payable: z.string(),
  gross: z.string(),
  carried_out: z.string(),
  min_payout: z.string().nullable(),
  tax: z.looseObject({ amount: z.string() }),
  lines: z.array(
    z.looseObject({ line: z.int(), kind: z.string(), amount: z.string(), count: z.int() }),
  ),
});
const One = z.object({ data: Statement });
const Text = z.object({ text: z.string(), amount: z.string() });
const Printed = z.object({
  data: z.object({
    number: z.string(),
    due_on: z.string(),
    lines: z.array(Text),
    totals: z.array(Text),
  }),
});
const Sent = z.object({ data: Statement });
const Entries = z.object({
  data: z.array(z.looseObject({ seq: z.int(), amount: z.string(), reason: z.string() })),
});
const Closing = z.object({
  data: z.object({
    statements: z.array(Statement),
    has_more: z.boolean(),
    is_dry_run: z.boolean(),
  }),
});

let approved: z.infer<typeof Statement>;
let draft: z.infer<typeof Statement>;
let conversionId: string;

beforeAll(async () => {
  assert.equal((await world.post("/statements/close", {})).status, 409, "billing is off");
  await books.switchOn({
    legal: { name: "Network Ltd", address: "1 High St\nLondon", vat_id: "GB1" },
  });
  await world.rows(
    "insert into tax_record (workspace_id, affiliate_id, mode, rate, country, vat_id) values ($1, $2, 'domestic', 20, 'GB', 'GB999')",
    [workspaceId, affiliateId],
  );
  await world.rows(
    "update affiliate set company = 'Médiá <b>Ltd</b> Ελλάδα', min_payout = 10 where id = $1",
    [affiliateId],
  );
  conversionId = await conversion();
  const sale = { affiliateId, currency: "USD", offerId, eventCode: "default" };
  await books.earn({ ...sale, conversionId, amount: "12.3456" }, { ...sale, amount: "8" });
  await books.adjust(affiliateId, "4", {
    currency: "USD",
    reason: "not for the partner",
    visible: false,
  });
  await books.takeBack(40);
  const closed = await close({ affiliate_id: affiliateId });
  assert.equal(closed.statements.length, 1);
  const id = closed.statements[0]?.id ?? 0;
  approved = One.parse((await world.post(`/statements/${id}/approve`, {})).body).data;
  await books.earn({ ...sale, conversionId: await conversion(), amount: "30" });
  [draft = approved] = (
    await close({ affiliate_id: affiliateId, until: new Date().toISOString().slice(0, 10) })
  ).statements;
});

function entries({ body }: Answer) {
  return Entries.parse(body).data;
}

async function conversion(): Promise<string> {
  const id = randomUUID();
  const [event] = await world.rows<{ id: number }>(
    "select id from offer_event where offer_id = $1",
    [offerId],
  );
  await world.rows(
    `insert into conversion (id, workspace_id, click_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private, status, revenue, payout,
       currency, payout_type, payout_rate, revenue_type, revenue_rate, adv_txid, method, conv_ts, holds_click, holds_txid)
     values ($1, $2, $3, $4, $5, $6, $7, 'default', false, 'approved', 15, 10, 'USD', 'cpa_flat', 10, 'rpa_flat', 15, 'secret-order', 's2s', now(), false, false)`,
    [id, workspaceId, "a".repeat(32), offerId, affiliateId, world.tenant.advertiserId, event?.id],
  );
  return id;
}

async function close(body: unknown, key = keys.admin) {
  const answer = await world.post("/statements/close", body, key);
  expect(answer.status, answer.text).toBe(201);
  return Closing.parse(answer.body).data;
}

describe("a statement", () => {
  test("shows what was carried, its lines, tax and rest in the units of its currency (N50)", () => {
    expect(approved).toMatchObject({
      number: `S-${new Date().getUTCFullYear()}-0001`,
      status: "approved",
      currency: "USD",
      total: "24.3456",
      min_payout: "10.0000",
      payable: "24.3400",
      tax: { mode: "domestic", rate: "20.0000", amount: "4.8700" },
      gross: "29.2100",
      carried_out: "0.0056",
      terms: "net30",
    });
    expect(approved.lines.map(({ kind, count, amount }) => [kind, count, amount])).toEqual([
      ["conversions", 2, "20.3456"],
      ["bonus", 0, "4.0000"],
    ]);
  });

  test("shows every conversion behind a line; order numbers are for the staff (N50)", async () => {
    const path = `/${approved.id}/lines/1/entries`;
    const all = entries(await world.get(`/statements${path}`));
    expect(
      all.map(({ conversion_id, adv_txid, amount }) => [conversion_id, adv_txid, amount]),
    ).toEqual([
      [null, null, "8.0000"],
      [conversionId, "secret-order", "12.3456"],
    ]);
    const own = entries(await world.get(`/me/statements${path}`, keys.partner));
    expect(own.map(({ amount }) => amount)).toEqual(["8.0000", "12.3456"]);
    expect(own.every((entry) => !("adv_txid" in entry))).toBe(true);
    const first = await world.get(`/statements${path}?limit=1`);
    const second = await world.get(`/statements${path}?limit=1&cursor=${nextCursor(first) ?? ""}`);
    expect([...entries(first), ...entries(second)]).toEqual(all);
    const bonus = `/${approved.id}/lines/2/entries`;
    const [staff] = entries(await world.get(`/statements${bonus}`));
    const [partner] = entries(await world.get(`/me/statements${bonus}`, keys.partner));
    expect([staff?.["reason"], partner?.["reason"]]).toEqual(["not for the partner", ""]);
    expect((await world.get(`/statements/${approved.id}/lines/3/entries`)).status).toBe(404);
  });

  test("is listed newest first and found by its filters (N50)", async () => {
    const ids = async (query: string) =>
      list(await world.get(`/statements?${query}`)).map(({ id }) => id);
    expect(await ids("")).toEqual([draft.id, approved.id]);
    expect(await ids("status=draft")).toEqual([draft.id]);
    expect(await ids(`affiliate_id=${affiliateId}&currency=USD`)).toEqual([draft.id, approved.id]);
    expect(await ids("currency=EUR")).toEqual([]);
    expect(await ids("due_until=2020-01-01")).toEqual([]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await ids(`from=${today}&to=${today}`)).toEqual([draft.id]);
    expect(list(await world.get("/me/statements", keys.partner)).map(({ id }) => id)).toEqual([
      approved.id,
    ]);
    expect(list(await world.get("/statements", foreign.keys.admin))).toEqual([]);
  });

  test("is seen by its partner from approval on, and by nobody else (N30)", async () => {
    const status = async (path: string, key: string) => (await world.get(path, key)).status;
    expect(await status(`/me/statements/${approved.id}`, keys.partner)).toBe(200);
    expect(await status(`/me/statements/${draft.id}`, keys.partner)).toBe(404);
    expect(await status(`/me/statements/${approved.id}`, foreign.keys.partner)).toBe(404);
    expect(await status(`/statements/${approved.id}`, foreign.keys.admin)).toBe(404);
    expect(await status(`/statements/${approved.id}`, keys.analyst)).toBe(200);
    expect(await status(`/statements/${approved.id}`, keys.partner)).toBe(403);
    expect(await status(`/me/statements/${approved.id}`, keys.advertiser)).toBe(403);
    for (const path of [
      "/statements/close",
      `/statements/${draft.id}/approve`,
      `/statements/${draft.id}/void`,
    ]) {
      for (const key of [keys.analyst, keys.partner, keys.advertiser])
        expect((await world.post(path, {}, key)).status).toBe(403);
    }
    expect(
      (await world.post(`/statements/${draft.id}/approve`, {}, foreign.keys.admin)).status,
    ).toBe(404);
  });

  test("stays as it is: approved again it is the same, and it cannot be voided (N49)", async () => {
    const again = await world.post(`/statements/${approved.id}/approve`, {});
    expect(One.parse(again.body).data).toEqual(approved);
    expect(refusal(await world.post(`/statements/${approved.id}/void`, {}))).toBe("409 conflict");
  });
});

describe("the document", () => {
  test("has the same figures as HTML, PDF, CSV and JSON, the same bytes each time, and no script (N50)", async () => {
    const file = async (format: string, path = "/statements", key = keys.admin) =>
      await fetch(`${world.origin}/api/v1${path}/${approved.id}/files/${format}`, {
        headers: { authorization: `Bearer ${key}` },
      });
    const json = Printed.parse(JSON.parse(await (await file("json")).text())).data;
    expect(json.totals.map(({ text, amount }) => [text, amount])).toEqual([
      ["Total", "24.3456"],
      ["Payable", "24.34"],
      ["Tax 20 %", "4.87"],
      ["To be paid", "29.21"],
      ["Carried to the next statement", "0.0056"],
    ]);
    const html = await (await file("html")).text();
    const pdf = Buffer.from(await (await file("pdf")).arrayBuffer());
    const printed = pdfText(pdf);
    const figures = [...json.lines, ...json.totals].flatMap(({ text, amount }) => [
      text,
      `${amount} USD`,
    ]);
    for (const text of [
      json.number,
      json.due_on,
      "Network Ltd",
      "1 High St",
      "VAT ID GB999",
      "Médiá <b>Ltd</b> Ελλάδα",
      ...figures,
    ]) {
      expect(printed).toContain(text);
      expect(html).toContain(
        text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
      );
    }
    expect(html).not.toMatch(/<script|<b>|javascript:|src=|href=/i);
    expect(pdf.equals(Buffer.from(await (await file("pdf")).arrayBuffer()))).toBe(true);
    expect(await (await file("html", "/me/statements", keys.partner)).text()).toBe(html);
    const csv = await (await file("csv")).text();
    expect(csv.split("\r\n").filter((line) => line !== "")).toHaveLength(1 + 3);
    expect(csv).toContain("secret-order");
    const own = await (await file("csv", "/me/statements", keys.partner)).text();
    expect(own).not.toContain("secret-order");
    expect(own).not.toContain("not for the partner");
    expect((await file("pdf", "/me/statements", foreign.keys.partner)).status).toBe(404);
    expect((await world.get(`/statements/${draft.id}/files/pdf`)).status).toBe(404);
    expect((await world.get(`/statements/${approved.id}/files/docx`)).status).toBe(404);
  });

  test("is a kept file that its owner reads, and nobody else (N10)", async () => {
    const [row] = await world.rows<{ id: number; sha: string }>(
      "select id, encode(sha256, 'hex') as sha from billing_file where owner_id = $1 and format = 'html'",
      [approved.id],
    );
    const path = `/files/${row?.id ?? 0}`;
    expect((await world.get(`${path}?format=json`)).body).toMatchObject({
      data: { sha256: row?.sha, media_type: "text/html; charset=utf-8" },
    });
    expect((await world.get(path, keys.partner)).status).toBe(200);
    for (const key of [keys.advertiser, foreign.keys.admin, foreign.keys.partner])
      expect((await world.get(path, key)).status).toBe(404);
  });
});

describe("closing", () => {
  test("bad input is refused by field (N47)", async () => {
    const fields = async (body: unknown) => refusal(await world.post("/statements/close", body));
    expect(await fields({ affiliate_id: foreign.affiliateId })).toBe("400 validation_failed");
    expect(await fields({ until: "2026-01-01" })).toBe("400 validation_failed");
    expect(await fields({ affiliate_id: affiliateId, until: "2099-01-01" })).toBe(
      "400 validation_failed",
    );
    expect(await fields({ affiliate_id: affiliateId, until: "2026-02-30" })).toBe(
      "400 validation_failed",
    );
    expect(await fields({ dry_run: "yes" })).toBe("400 validation_failed");
    expect(refusal(await world.post("/statements/approve", { ids: [] }))).toBe(
      "400 validation_failed",
    );
    expect(
      refusal(
        await world.post("/statements/approve", {
          ids: Array.from({ length: 501 }, (_, id) => id + 1),
        }),
      ),
    ).toBe("400 validation_failed");
  });

  test("a preview keeps nothing; nobody is left out for a missing payment method (N48)", async () => {
    const bare = await books.partner({
      currency: "USD",
      payment_method: "other",
      payment_details: "{}",
    });
    await books.earn({ affiliateId: bare, currency: "USD", amount: "3" });
    await books.takeBack(40);
    const preview = await close({ dry_run: true });
    expect(preview.is_dry_run).toBe(true);
    expect(preview.statements.map(({ affiliate_id }) => affiliate_id)).toEqual([bare]);
    expect(list(await world.get(`/statements?affiliate_id=${bare}`))).toEqual([]);
    const { statements } = await close({});
    expect(statements.map(({ status, total }) => [status, total])).toEqual([["draft", "3.0000"]]);
    const ids = [statements[0]?.id ?? 0, approved.id, 999_999];
    const bulk = await world.post("/statements/approve", { ids });
    expect(bulk.body["data"]).toMatchObject([
      { id: ids[0], outcome: "approved" },
      { id: ids[1], outcome: "unchanged", number: approved.number },
      { id: ids[2], outcome: "refused", number: null },
    ]);
  });

  test("a partner that is paid on request asks for its own statement, once the minimum is reached (N47)", async () => {
    expect(refusal(await world.post("/me/statements/close", {}, keys.partner))).toBe(
      "409 conflict",
    );
    await world.rows(
      "update affiliate set payment_terms = 'on_request', min_payout = 5 where id = $1",
      [affiliateId],
    );
    await world.rows("delete from payment_terms_change where affiliate_id = $1", [affiliateId]);
    await books.earn({ affiliateId, currency: "USD", amount: "4" });
    expect(refusal(await world.post("/me/statements/close", {}, keys.partner))).toBe(
      "409 conflict",
    );
    await books.earn({ affiliateId, currency: "USD", amount: "4" });
    expect((await world.post("/me/statements/close", {}, keys.partner)).status).toBe(201);
    const [newest] = list(await world.get(`/statements?affiliate_id=${affiliateId}`));
    expect(newest).toMatchObject({ status: "draft", terms: "on_request" });
    expect(
      (await world.post(`/statements/${String(newest?.["id"])}/void`, {})).body["data"],
    ).toMatchObject({ status: "void" });
  });

  test("the task closes after the grace, waits for what is not posted, and approves if set (N48, N49)", async () => {
    const { signal } = new AbortController();
    const tenant = await world.addTenant("tasked");
    const own = new StatementBooks(world, tenant.workspaceId);
    await own.switchOn({ auto_approve: true });
    await own.earn({ affiliateId: tenant.affiliateId, currency: "USD", amount: "7" });
    const now = new Date();
    const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    const stored = async () =>
      await world.rows("select status, payable from statement where workspace_id = $1", [
        tenant.workspaceId,
      ]);
    await closeDueStatements(world.pool, { nowMs: endMs + 3_600_000, signal });
    expect(await stored()).toEqual([]);
    await world.rows("insert into ledger_outbox (history_id, workspace_id) values (1, $1)", [
      tenant.workspaceId,
    ]);
    await closeDueStatements(world.pool, { nowMs: endMs + 8_000_000, signal });
    expect(await stored()).toEqual([]);
    await world.rows("delete from ledger_outbox");
    await closeDueStatements(world.pool, { nowMs: endMs + 8_000_000, signal });
    expect(await stored()).toEqual([{ status: "approved", payable: "7.0000" }]);
  });

  test("webhooks hear of a statement that is made and of one that is approved, with its lines (N14)", async () => {
    const hook = { name: "CRM", url: "https://crm.example/hook" };
    const events = ["statement.created", "statement.approved"];
    expect((await world.post("/webhooks", { ...hook, events })).status).toBe(201);
    const id = await books.partner({ currency: "USD" });
    await books.earn({ affiliateId: id, currency: "USD", amount: "2" });
    const [made] = (await close({ affiliate_id: id, until: new Date().toISOString().slice(0, 10) }))
      .statements;
    const shown = One.parse(
      (await world.post(`/statements/${made?.id ?? 0}/approve`, {})).body,
    ).data;
    const sent = await world.rows<{ event: string; facts: { body: string } }>(
      "select event, facts from delivery where workspace_id = $1 and kind = 'webhook'",
      [workspaceId],
    );
    sent.sort((a, b) => b.event.localeCompare(a.event));
    expect(sent.map(({ event }) => event)).toEqual(["statement.created", "statement.approved"]);
    expect(Sent.parse(JSON.parse(sent[0]?.facts.body ?? "")).data).toEqual(made);
    expect(Sent.parse(JSON.parse(sent[1]?.facts.body ?? "")).data).toEqual(shown);
  });
});
