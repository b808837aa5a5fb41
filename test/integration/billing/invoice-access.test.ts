import { describe, expect, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { details, list, record, refusal } from "../api/api-world.ts";
import { InvoiceWorld } from "./invoice-world.ts";

const world = await forThisFile(InvoiceWorld.open());
const { api } = world;

describe("who may", () => {
  test("an advertiser sees its own sent invoices and nothing of others (N33, P30)", async () => {
    const rivalId = await world.advertiser();
    const own = await world.sent(world.tenant.advertiserId, "10");
    const rival = await world.sent(rivalId, "10");
    const draft = await world.draft(world.tenant.advertiserId, "10");
    const key = api.tenant.keys.advertiser;
    expect(list(await api.get("/me/invoices", key)).map(({ id }) => id)).toEqual([own.id]);
    expect(record(await api.get(`/me/invoices/${own.id}`, key))).toMatchObject({
      number: own["number"],
    });
    expect((await api.get(`/me/invoices/${own.id}/files/html`, key)).status).toBe(200);
    for (const path of [
      `/me/invoices/${rival.id}`,
      `/me/invoices/${rival.id}/files/html`,
      `/me/invoices/${draft}`,
      `/me/invoices/${draft}/files/csv`,
    ])
      expect(refusal(await api.get(path, key)), path).toBe("404 not_found");
    for (const role of ["partner", "advertiser"] as const)
      for (const path of [
        "/invoices",
        `/invoices/${own.id}`,
        "/payments",
        `/advertisers/${rivalId}/tax`,
      ])
        expect(refusal(await api.get(path, api.tenant.keys[role])), path).toBe("403 forbidden");
    for (const path of ["/me/invoices", `/me/invoices/${own.id}`])
      expect(refusal(await api.get(path, api.tenant.keys.partner)), path).toBe("403 forbidden");
  });

  test("analysts read, narrowed keys do neither, and other workspaces see nothing (N3)", async () => {
    const { id } = await world.sent(await world.advertiser(), "10");
    const payment = record(await world.pay(await world.advertiser(), "1"));
    const narrow = await insertKey(api.pool, {
      workspaceId: world.tenant.workspaceId,
      name: "narrow",
      role: "admin",
      permissions: ["advertisers.read", "advertisers.write"],
    });
    const other = await api.addTenant(`other${id}`);
    const writes: [string, unknown][] = [
      [`/invoices/${id}/approve`, undefined],
      [`/invoices/${id}/void`, undefined],
      [`/invoices/${id}/credit`, { reason: "no" }],
      ["/invoices/close", {}],
      [`/payments/${payment.id}/reverse`, { reason: "no" }],
    ];
    for (const path of [
      "/invoices",
      `/invoices/${id}`,
      `/invoices/${id}/files/csv`,
      "/payments",
      `/payments/${payment.id}`,
    ]) {
      expect((await api.get(path, api.tenant.keys.analyst)).status, path).toBe(200);
      expect(refusal(await api.get(path, narrow)), path).toBe("403 forbidden");
    }
    for (const path of [
      `/invoices/${id}`,
      `/invoices/${id}/files/csv`,
      `/invoices/${id}/lines/1/entries`,
      `/payments/${payment.id}`,
    ])
      expect(refusal(await api.get(path, other.keys.admin)), path).toBe("404 not_found");
    for (const [path, body] of writes) {
      expect(refusal(await api.post(path, body, api.tenant.keys.analyst)), path).toBe(
        "403 read_only_key",
      );
      expect(refusal(await api.post(path, body, narrow)), path).toBe("403 forbidden");
    }
    for (const [path, body] of writes.filter(([write]) => write !== "/invoices/close"))
      expect(refusal(await api.post(path, body, other.keys.admin)), path).toBe("404 not_found");
    const foreign = await api.post(
      "/payments",
      {
        advertiser_id: world.tenant.advertiserId,
        currency: "EUR",
        amount: "1",
        external_id: "x",
        received_at: "2026-01-01T00:00:00Z",
      },
      other.keys.admin,
    );
    expect(details(foreign).fields).toEqual({ advertiser_id: "no such advertiser" });
  });

  test("bad input is named by its field", async () => {
    const advertiserId = await world.advertiser();
    const fields = async (path: string, body: unknown) =>
      Object.keys(details(await api.post(path, body)).fields).toSorted();
    expect(await fields("/payments", {})).toEqual([
      "advertiser_id",
      "amount",
      "currency",
      "external_id",
      "received_at",
    ]);
    for (const [more, field] of [
      [{ amount: "0" }, "amount"],
      [{ amount: "-1" }, "amount"],
      [{ amount: "1.005" }, "amount"],
      [{ amount: "10.5", currency: "JPY" }, "amount"],
      [{ currency: "EURO" }, "currency"],
      [{ external_id: " " }, "external_id"],
      [{ received_at: "2099-01-01T00:00:00Z" }, "received_at"],
      [{ invoice_ids: [999_999] }, "invoice_ids"],
      [{ advertiser_id: 999_999 }, "advertiser_id"],
      [{ extra: 1 }, "extra"],
    ] as const) {
      const answer = await world.pay(advertiserId, "10", more);
      expect([answer.status, Object.keys(details(answer).fields)], JSON.stringify(more)).toEqual([
        400,
        [field],
      ]);
    }
    expect(
      await world.rows("select 1 from advertiser_payment where advertiser_id = $1", advertiserId),
    ).toEqual([]);
    expect(await fields("/invoices/close", { until: "2026-01-01T00:00:00Z" })).toEqual(["until"]);
    expect(
      await fields("/invoices/close", {
        advertiser_id: advertiserId,
        until: "2099-01-01T00:00:00Z",
      }),
    ).toEqual(["until"]);
    const tax = async (body: unknown) =>
      Object.keys(
        details(await api.call("PUT", `/advertisers/${advertiserId}/tax`, { body })).fields,
      );
    expect(await tax({ mode: "domestic" })).toEqual(["rate"]);
    expect(await tax({ mode: "exempt", rate: "5" })).toEqual(["rate"]);
    expect(await tax({ mode: "domestic", rate: "101" })).toEqual(["rate"]);
    expect(await tax({ mode: "reverse_charge" })).toEqual(["vat_id"]);
    expect(await tax({ mode: "none", country: "XX" })).toEqual(["country"]);
    expect((await api.get(`/advertisers/${advertiserId}/tax`)).body["data"]).toMatchObject({
      mode: "none",
      updated_at: null,
    });
  });

  test("an invoice is overdue from the day after its due day until it is paid (N58)", async () => {
    const advertiserId = await world.advertiser({ billing_terms: "on_request" });
    const { id } = await world.sent(advertiserId, "10");
    const overdue = async (value: string) =>
      list(await api.get(`/invoices?advertiser_id=${advertiserId}&overdue=${value}`)).map((row) => [
        row.id,
        row["is_overdue"],
      ]);
    expect(await overdue("true")).toEqual([]);
    await world.rows("alter table invoice disable trigger is_final");
    await world.rows("update invoice set due_on = current_date - 2 where id = $1", id);
    await world.rows("alter table invoice enable trigger is_final");
    expect(await overdue("true")).toEqual([[id, true]]);
    expect(await overdue("false")).toEqual([]);
    await world.pay(advertiserId, "10");
    expect(await overdue("true")).toEqual([]);
    expect(await overdue("false")).toEqual([[id, false]]);
  });
});
