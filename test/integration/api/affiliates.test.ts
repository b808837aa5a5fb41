import { describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, record, refusal, someId, someText } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());

describe("affiliates", () => {
  test("a name is enough, the rest has defaults (AFF-012, AFF-013, AFF-014, AFF-030, G57)", async () => {
    const answer = await world.post("/affiliates", { name: "Acme" });
    expect(answer.status).toBe(201);
    expect(record(answer)["code"]).toMatch(/^[A-HJ-NP-Z][A-HJ-NP-Z2-9]{7}$/);
    expect(record(answer)).toEqual({
      id: someId,
      code: someText,
      name: "Acme",
      status: "active",
      company: "",
      contact_name: "",
      email: "",
      phone: "",
      website: "",
      messenger: "",
      traffic_sources: "",
      notes: "",
      country: "",
      tier: "",
      manager_id: null,
      payment_method: "other",
      payment_details: {},
      payment_terms: "net30",
      min_payout: "0.0000",
      currency: "USD",
      tags: [],
      approved_at: someText,
      created_at: someText,
      updated_at: someText,
    });
    expect(
      record(await world.post("/affiliates", { name: "x", status: "pending" }))["approved_at"],
    ).toBeNull();
    const [one, other] = [
      await world.post("/affiliates", { name: "x" }),
      await world.post("/affiliates", { name: "x" }),
    ];
    expect(record(one).id).not.toBe(record(other).id);
  });

  test("every field is stored and returned (AFF-020, AFF-022, AFF-024, AFF-025)", async () => {
    const workspace_id = world.tenant.workspaceId;
    const manager = await world.insert("app_user", { workspace_id, name: "Mia" });
    const fields = {
      name: "All",
      code: "Ab12Cd",
      status: "blocked",
      company: "Co",
      contact_name: "C",
      email: "a@b.example",
      phone: "+49",
      website: "blog.example",
      country: "DE",
      messenger: "m",
      traffic_sources: "seo",
      tier: "gold",
      manager_id: manager,
      payment_method: "wallet_a",
      payment_details: { wallet_a: "w-1", wire: "DE89" },
      payment_terms: "weekly",
      min_payout: "50",
      currency: "EUR",
      notes: "n",
      tags: ["vip", "de"],
    };
    const made = record(await world.post("/affiliates", fields));
    expect(made).toMatchObject({ ...fields, min_payout: "50.0000" });
    expect(record(await world.get("/affiliates/AB12CD"))).toEqual(made);
    expect(record(await world.get(`/affiliates/${made.id}`))).toEqual(made);
  });

  test.each([
    ["code", "abcde"],
    ["code", "abcdefghijk"],
    ["code", "ab-cd1"],
    ["status", "gone"],
    ["payment_method", "paypal"],
    ["payment_terms", "net1"],
    ["manager_id", 999_999],
    ["min_payout", 5],
    ["country", "XX1"],
    ["country", "XX"],
    ["currency", "ZZZZ"],
    ["email", "no-address"],
    ["payment_details", { wire: 5 }],
    ["tags", "vip"],
    ["foo", 1],
    ["approved_at", "2025-01-01T00:00:00.000Z"],
    ["name", "x".repeat(201)],
    ["name", " "],
  ])(
    "%s %j (AFF-015, AFF-016, AFF-017, AFF-018, AFF-019, AFF-020, AFF-021, AFF-022, AFF-023, AFF-026)",
    async (field, value) => {
      const answer = await world.post("/affiliates", { name: "x", [field]: value });
      expect(refusal(answer)).toBe("400 validation_failed");
      expect(Object.keys(details(answer).fields).map((name) => name.split(".")[0])).toEqual([
        field,
      ]);
    },
  );

  test("codes have 6 to 10 characters and are unique in any case (AFF-016, AFF-017, ERR-004)", async () => {
    for (const code of ["abc123", "abcdefghi0"]) {
      expect((await world.post("/affiliates", { name: "x", code })).status).toBe(201);
    }
    const taken = await world.post("/affiliates", { name: "x", code: "ABC123" });
    expect(`${refusal(taken)} ${details(taken).field}`).toBe("409 conflict code");
    const other = record(await world.post("/affiliates", { name: "x" }));
    const moved = await world.patch(`/affiliates/${other.id}`, { code: "ABC123" });
    expect(`${refusal(moved)} ${details(moved).field}`).toBe("409 conflict code");
    expect(record(await world.patch(`/affiliates/${other.id}`, { code: "NEW123" }))["code"]).toBe(
      "NEW123",
    );
  });

  test("PATCH changes what is sent; approved_at is set once (AFF-027, AFF-028, AFF-029, G13, G55, T39)", async () => {
    const { id } = record(
      await world.post("/affiliates", { name: "x", status: "pending", notes: "kept" }),
    );
    const first = record(
      await world.patch(`/affiliates/${id}`, { status: "active", company: "New" }),
    );
    expect(first).toMatchObject({ company: "New", notes: "kept", approved_at: someText });
    await world.patch(`/affiliates/${id}`, { status: "blocked" });
    const again = record(
      await world.patch(`/affiliates/${id}`, { status: "active", manager_id: null }),
    );
    expect(again["approved_at"]).toBe(first["approved_at"]);
    expect(record(await world.patch(`/affiliates/${id}`, {}))).toEqual(again);
    expect(refusal(await world.patch("/affiliates/999999", {}))).toBe("404 not_found");
    expect(refusal(await world.get("/affiliates/nobody1"))).toBe("404 not_found");
  });

  test("filters (AFF-002, AFF-003, AFF-004, AFF-005, AFF-006, AFF-007, AFF-008, AFF-009, AFF-010, T72)", async () => {
    const make = async (fields: Record<string, unknown>) =>
      record(await world.post("/affiliates", fields));
    const manager_id = record(await world.post("/users", { name: "Max" })).id;
    const company = { company: "Quux GmbH", manager_id };
    const a = await make({ name: "Zebra_1", tags: ["f"], ...company, code: "ZEBRA1" });
    const b = await make({
      name: "Zebra 2",
      tags: ["f", "g"],
      email: "who@quux.example",
      status: "pending",
    });
    const ids = async (query: string) =>
      list(await world.get(`/affiliates?tag=f&${query}`)).map(({ id }) => id);
    expect(await ids("")).toEqual([b.id, a.id]);
    expect(await ids("status=pending")).toEqual([b.id]);
    expect(await ids("q=ZEBRA")).toEqual([b.id, a.id]);
    expect(await ids("q=a_1")).toEqual([a.id]);
    expect(await ids("q=quux")).toEqual([b.id, a.id]);
    expect(await ids("q=zebra1")).toEqual([a.id]);
    expect(await ids("q=zebr1")).toEqual([]);
    expect(await ids(`ids=${a.id}`)).toEqual([a.id]);
    expect(await ids(`manager_id=${manager_id}`)).toEqual([a.id]);
    expect(await ids("manager_id=999999")).toEqual([]);
    expect(await ids("status=active&q=quux")).toEqual([a.id]);
    expect(list(await world.get("/affiliates?tag=g")).map(({ id }) => id)).toEqual([b.id]);
    expect(details(await world.get("/affiliates?status=gone")).param).toBe("status");
    expect(details(await world.get("/affiliates?manager_id=x")).param).toBe("manager_id");
  });

  test("only admin keys see payment details (VIS-016, VIS-017, AUTH-016, T37)", async () => {
    const { id } = record(
      await world.post("/affiliates", { name: "x", payment_details: { wire: "IBAN" } }),
    );
    const { payment_details: seen, ...rest } = record(await world.get(`/affiliates/${id}`));
    expect(seen).toEqual({ wire: "IBAN" });
    expect(record(await world.get(`/affiliates/${id}`, world.tenant.keys.analyst))).toEqual(rest);
  });
});

describe("advertisers", () => {
  test("a name suffices, admins see a token (ADV-002, ADV-003, ADV-004, ADV-005, ADV-007, VIS-019, G61, G62)", async () => {
    const answer = await world.post("/advertisers", {
      name: "Shop",
      website: "shop.example",
      currency: "EUR",
    });
    expect(answer.status).toBe(201);
    const made = record(answer);
    expect(made["postback_token"]).toMatch(/^[0-9a-f]{32}$/);
    expect(made).toEqual({
      id: someId,
      name: "Shop",
      status: "active",
      company: "",
      contact_name: "",
      email: "",
      phone: "",
      website: "shop.example",
      country: "",
      notes: "",
      currency: "EUR",
      account_manager_id: null,
      billing_terms: "net30",
      tags: [],
      postback_token: someText,
      created_at: someText,
      updated_at: someText,
    });
    expect(made["postback_token"]).toMatch(/^[0-9a-f]{32}$/);
    const other = record(await world.post("/advertisers", { name: "Shop" }));
    expect(other["currency"]).toBe("USD");
    expect(other["postback_token"]).not.toBe(made["postback_token"]);
    const { postback_token: _token, ...rest } = made;
    expect(record(await world.get(`/advertisers/${made.id}`, world.tenant.keys.analyst))).toEqual(
      rest,
    );
  });

  test("wrong fields are refused, also the token (ADV-006, G56, G62)", async () => {
    const answer = await world.post("/advertisers", {
      postback_token: "x",
      billing_terms: "never",
      account_manager_id: 999_999,
      status: "blocked",
    });
    expect(Object.keys(details(answer).fields).sort()).toEqual([
      "account_manager_id",
      "billing_terms",
      "name",
      "postback_token",
      "status",
    ]);
  });

  test("an advertiser is found by filters, read and changed (ADV-001, G60)", async () => {
    const { id } = record(
      await world.post("/advertisers", { name: "Findable", company: "Needle" }),
    );
    expect(
      list(await world.get("/advertisers?q=needle&status=active")).map((row) => row.id),
    ).toEqual([id]);
    expect(list(await world.get(`/advertisers?ids=${id}&status=paused`))).toEqual([]);
    expect(
      record(
        await world.patch(`/advertisers/${id}`, { status: "paused", billing_terms: "prepaid" }),
      ),
    ).toMatchObject({
      company: "Needle",
      status: "paused",
      billing_terms: "prepaid",
    });
    for (const path of ["999999", "abc", "0"])
      expect(refusal(await world.get(`/advertisers/${path}`))).toBe("404 not_found");
  });
});
