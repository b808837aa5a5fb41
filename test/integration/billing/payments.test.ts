import { describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { details, record, refusal, someText } from "../api/api-world.ts";
import { InvoiceWorld } from "./invoice-world.ts";

const world = await forThisFile(InvoiceWorld.open());
const { api } = world;

const statesOf = async (...ids: readonly number[]) =>
  await Promise.all(
    ids.map(async (id) => {
      const { status, paid, open } = await world.invoice(id);
      return [status, paid, open];
    }),
  );

describe("payments", () => {
  test("in two parts: part paid, then paid; events tell of it (N58, N14)", async () => {
    const hook = await world.done("/webhooks", {
      name: "Money",
      url: "https://hooks.example/money",
      events: ["invoice.created", "invoice.paid"],
    });
    const advertiserId = await world.advertiser();
    const { id } = await world.sent(advertiserId, "100");
    const first = record(await world.pay(advertiserId, "40"));
    expect(first).toMatchObject({
      applied: "40.0000",
      unapplied: "0.0000",
      allocations: [{ invoice_id: id, amount: "40.0000" }],
    });
    expect(await statesOf(id)).toEqual([["part_paid", "40.0000", "60.0000"]]);
    await world.pay(advertiserId, "60");
    expect(await world.invoice(id)).toMatchObject({
      status: "paid",
      paid: "100.0000",
      open: "0.0000",
      payments: [{ amount: "40.0000" }, { amount: "60.0000" }],
    });
    const told = await world.rows(
      `select event, (facts ->> 'body')::json -> 'data' ->> 'status' as status, (facts ->> 'body')::json -> 'data' ->> 'id' as id
       from delivery where endpoint_id = $1 order by id`,
      hook["id"],
    );
    expect(told).toEqual([
      { event: "invoice.created", status: "draft", id: String(id) },
      { event: "invoice.paid", status: "paid", id: String(id) },
    ]);
    await api.call("DELETE", `/webhooks/${String(hook["id"])}`);
    await world.expectInBalance();
  });

  test("the same payment is recorded once, another of its name is refused (N58)", async () => {
    const advertiserId = await world.advertiser();
    const { id } = await world.sent(advertiserId, "100");
    const body = { external_id: "same", invoice_ids: [id], note: "by wire" };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => world.pay(advertiserId, "30", body)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(11).fill(200),
      201,
    ]);
    expect(new Set(answers.map((answer) => record(answer).id)).size).toBe(1);
    await world.pay(advertiserId, "70");
    // The invoice is paid now, and the first payment is still the same payment.
    expect((await world.pay(advertiserId, "30", body)).status).toBe(200);
    for (const other of [
      { amount: "31" },
      { currency: "USD" },
      { received_at: "2026-01-06T00:00:00.000Z" },
      { note: "" },
      { invoice_ids: [] },
      { advertiser_id: await world.advertiser() },
    ]) {
      const answer = await world.pay(advertiserId, "30", { ...body, ...other });
      expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "external_id"]);
    }
    await world.expectInBalance();
  });

  test("payments that race each other never cover more than is open (N58)", async () => {
    const advertiserId = await world.advertiser();
    const invoices = [
      await world.sent(advertiserId, "50"),
      await world.sent(advertiserId, "70"),
    ].map(({ id }) => id);
    await Promise.all(Array.from({ length: 15 }, () => world.pay(advertiserId, "10")));
    expect(await statesOf(...invoices)).toEqual([
      ["paid", "50.0000", "0.0000"],
      ["paid", "70.0000", "0.0000"],
    ]);
    const left = await world.rows(
      `select sum(p.amount) - coalesce((select sum(l.amount) from payment_allocation l join advertiser_payment q on q.id = l.payment_id
         where q.advertiser_id = $1), 0) as left from advertiser_payment p where p.advertiser_id = $1`,
      advertiserId,
    );
    expect(left).toEqual([{ left: "30.0000" }]);
    await world.expectInBalance();
  });

  test("named invoices come first, then the oldest; the rest covers the next that is sent (N58)", async () => {
    const advertiserId = await world.advertiser();
    const a = await world.sent(advertiserId, "10");
    const b = await world.sent(advertiserId, "20");
    const payment = record(await world.pay(advertiserId, "45", { invoice_ids: [b.id] }));
    expect(payment).toMatchObject({ applied: "30.0000", unapplied: "15.0000" });
    expect(await statesOf(a.id, b.id)).toEqual([
      ["paid", "10.0000", "0.0000"],
      ["paid", "20.0000", "0.0000"],
    ]);
    const c = await world.sent(advertiserId, "40");
    expect(c).toMatchObject({ status: "part_paid", paid: "15.0000", open: "25.0000" });
    const d = await world.sent(advertiserId, "5");
    expect(d).toMatchObject({ status: "sent" });
    expect(record(await world.pay(advertiserId, "30", { currency: "USD" }))).toMatchObject({
      unapplied: "30.0000",
    });
    await world.expectInBalance();
  });

  test("a payment that is reversed leaves its invoices open, once (N8, N58)", async () => {
    const advertiserId = await world.advertiser();
    const { id } = await world.sent(advertiserId, "100");
    const wrong = record(await world.pay(advertiserId, "100"));
    const spare = record(await world.pay(advertiserId, "25"));
    const reversed = await Promise.all(
      [1, 2, 3].map(() =>
        api.post(`/payments/${wrong.id}/reverse`, { reason: "another bank account" }),
      ),
    );
    expect(reversed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(record(await api.get(`/payments/${wrong.id}`))).toMatchObject({
      applied: "0.0000",
      unapplied: "0.0000",
      reversal_reason: "another bank account",
      reversed_at: someText,
      allocations: [],
    });
    // What the other payment had left covers the invoice now.
    expect(await statesOf(id)).toEqual([["part_paid", "25.0000", "75.0000"]]);
    expect(record(await api.get(`/payments/${spare.id}`))).toMatchObject({ unapplied: "0.0000" });
    expect(
      await world.rows(
        `select sum(e.amount) as sum, count(t.reverses_id)::int as names from ledger_transaction t
         join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id and a.kind = 'clearing'
         where t.source_id = $1 and t.source_kind in ('payment', 'payment_reversal')`,
        String(wrong.id),
      ),
    ).toEqual([{ sum: "0.0000", names: 1 }]);
    await world.expectInBalance();
  });

  test.each([
    "update advertiser_payment set amount = amount + 1",
    "delete from advertiser_payment",
    "delete from payment_allocation",
    "update payment_allocation set amount = amount + 1",
    "delete from advertiser_payment_reversal",
  ])("%s is refused also of SQL (N8)", async (text) => {
    await expect(world.rows(text)).rejects.toMatchObject({ code: "42501" });
  });

  test("what a dying process left is nothing, and the payment can be sent again (N39)", async () => {
    const advertiserId = await world.advertiser();
    const { id } = await world.sent(advertiserId, "10");
    const body = { external_id: "killed" };
    // The backend is killed while it waits for the lock of the account, after the payment may have been written.
    const holder = await api.pool.connect();
    await holder.query({ text: "begin" });
    await holder.query({
      text: `select 1 from ledger_balance b join ledger_account a on a.id = b.account_id
             where a.owner_id = $1 and a.kind = 'advertiser_receivable' for update of b`,
      values: [advertiserId],
    });
    const sent = world.pay(advertiserId, "10", body);
    await until("the session of the payment waits and is ended", async () => {
      const ended = await world.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like '%post_ledger%'
           and datname = current_database()`,
      );
      return ended.length === 1;
    });
    await holder.query({ text: "rollback" });
    holder.release();
    expect((await sent).status).toBeGreaterThanOrEqual(500);
    expect(
      await world.rows("select 1 from advertiser_payment where external_id = 'killed'"),
    ).toEqual([]);
    expect(await statesOf(id)).toEqual([["sent", "0.0000", "10.0000"]]);
    expect((await world.pay(advertiserId, "10", body)).status).toBe(201);
    expect(await statesOf(id)).toEqual([["paid", "10.0000", "0.0000"]]);
    await world.expectInBalance();
  });
});

describe("credit notes", () => {
  test("a credit note takes back the claim with its tax and frees what was paid (N58)", async () => {
    const advertiserId = await world.advertiser();
    await api.call("PUT", `/advertisers/${advertiserId}/tax`, {
      body: { mode: "domestic", rate: "19" },
    });
    const wrong = await world.sent(advertiserId, "100.0049");
    expect(wrong).toMatchObject({ gross: "119.0000", carried_out: "0.0049" });
    const payment = record(await world.pay(advertiserId, "119"));
    const note = await world.done(`/invoices/${wrong.id}/credit`, { reason: "wrong offer" });
    expect(note).toMatchObject({
      kind: "credit_note",
      number: "C-" + String(wrong["number"]).replace(/\d+$/, "0001"),
      credits_id: wrong.id,
      payable: "-100.0000",
      tax_amount: "-19.0000",
      gross: "-119.0000",
      open: "0.0000",
      reason: "wrong offer",
      lines: [{ kind: "credit", amount: "-100.0000" }],
    });
    expect(await world.invoice(wrong.id)).toMatchObject({
      status: "credited",
      credited_by_id: note["id"],
      paid: "0.0000",
      open: "0.0000",
      gross: "119.0000",
      payments: [],
    });
    expect(record(await api.get(`/payments/${payment.id}`))).toMatchObject({
      unapplied: "119.0000",
    });
    expect(refusal(await api.post(`/invoices/${wrong.id}/credit`, { reason: "again" }))).toBe(
      "409 conflict",
    );
    expect(
      refusal(await api.post(`/invoices/${String(note["id"])}/credit`, { reason: "no" })),
    ).toBe("409 conflict");
    // The next invoice does not invoice anything of it again, carries the rest, and is covered by the freed payment.
    const next = await world.sent(advertiserId, "10");
    expect(next).toMatchObject({
      carried_in: "0.0049",
      payable: "10.0000",
      gross: "11.9000",
      status: "paid",
    });
    expect((await api.get(`/invoices/${String(note["id"])}/files/html`)).text).toContain(
      "Amount credited",
    );
    expect(
      await world.rows(
        `select a.kind, e.amount from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
         join ledger_account a on a.id = e.account_id where t.source_kind = 'credit_note' and t.source_id = $1 order by 1`,
        String(note["id"]),
      ),
    ).toEqual([
      { kind: "adjustment_cost", amount: "100.0000" },
      { kind: "advertiser_receivable", amount: "-119.0000" },
      { kind: "tax_out", amount: "19.0000" },
    ]);
    await world.expectInBalance();
  });
});
