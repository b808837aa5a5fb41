import { describe, expect, test } from "vitest";
import { closeEndedPeriods } from "../../../processors/schedule/close-invoices.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { refusal, someText } from "../api/api-world.ts";
import { InvoiceWorld } from "./invoice-world.ts";

const world = await forThisFile(InvoiceWorld.open());
const { api } = world;

describe("closing", () => {
  test("lines are an offer and event, reversals and adjustments stand apart (N58, N44)", async () => {
    const advertiserId = await world.advertiser();
    const offer = await api.offer({ advertiser_id: advertiserId, name: "Shoes" });
    const of = { advertiserId, offerId: offer.id };
    await world.revenue(
      { ...of, amount: "10" },
      { ...of, amount: "12.5" },
      { ...of, amount: "3", eventCode: "sale" },
      { ...of, amount: "-10" },
      { ...of, amount: "7.77", kind: "clicks", count: 111 },
      { advertiserId, amount: "1.5", kind: "adjustment", count: 0 },
    );
    const [invoice] = await world.closeNow(advertiserId);
    expect(invoice).toMatchObject({
      status: "draft",
      number: null,
      carried_in: "0.0000",
      total: "24.7700",
      payable: "24.7700",
      gross: "24.7700",
      carried_out: "0.0000",
      terms: "net30",
      lines: [
        ["conversions", "default", 2, "22.5000"],
        ["conversions", "sale", 1, "3.0000"],
        ["clicks", null, 111, "7.7700"],
        ["reversal", "default", -1, "-10.0000"],
        ["correction", "default", 0, "1.5000"],
      ].map(([kind, event_code, count, amount], index) => ({
        line: index + 1,
        kind,
        offer_id: kind === "correction" ? null : offer.id,
        offer_name: kind === "correction" ? null : "Shoes",
        event_code: kind === "correction" ? null : event_code,
        count,
        amount,
      })),
    });
    expect(await world.closeNow(advertiserId)).toEqual([]);
    const entries = await world.entries(
      `/invoices/${String(invoice?.["id"])}/lines/1/entries?limit=1`,
    );
    expect(entries.map(({ amount }) => amount)).toEqual(["12.5000"]);
    const all = await world.entries(`/invoices/${String(invoice?.["id"])}/lines/4/entries`);
    expect(all.map(({ amount }) => amount)).toEqual(["-10.0000"]);
    await world.expectInBalance();
  });

  test("a total of 0 or less, or below a coin, is carried into the next invoice (N58)", async () => {
    const advertiserId = await world.advertiser();
    await world.revenue({ advertiserId, amount: "5" }, { advertiserId, amount: "-7.5" });
    expect(await world.closeNow(advertiserId)).toMatchObject([
      { status: "carried", total: "-2.5000", payable: "0.0000", carried_out: "-2.5000" },
    ]);
    await world.revenue({ advertiserId, amount: "2.5049" });
    expect(await world.closeNow(advertiserId)).toMatchObject([
      { status: "carried", carried_in: "-2.5000", total: "0.0049", carried_out: "0.0049" },
    ]);
    await world.revenue({ advertiserId, amount: "1.0077" });
    expect(await world.closeNow(advertiserId)).toMatchObject([
      {
        status: "draft",
        carried_in: "0.0049",
        total: "1.0126",
        payable: "1.0100",
        carried_out: "0.0026",
      },
    ]);
    await world.expectInBalance();
  });

  test.each([
    ["JPY", "1840.5500", "1840.0000", "0.5500", "184.0000"],
    ["KWD", "1.2345", "1.2340", "0.0005", "0.1230"],
    ["EUR", "0.0500", "0.0500", "0.0000", "0.0100"],
  ])(
    "%s: payable is whole coins, tax is rounded once (N6, N58)",
    async (currency, total, payable, ...[out, tax]) => {
      const advertiserId = await world.advertiser();
      await api.call("PUT", `/advertisers/${advertiserId}/tax`, {
        body: { mode: "domestic", rate: "10" },
      });
      await world.revenue({ advertiserId, amount: total, currency });
      const [made] = await world.closeNow(advertiserId);
      expect(made).toMatchObject({ payable, carried_out: out, tax_amount: tax });
      const sent = await world.done(`/invoices/${String(made?.["id"])}/approve`);
      expect(
        await world.rows(
          `select a.kind, e.amount from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
       join ledger_account a on a.id = e.account_id where t.source_kind = 'invoice_tax' and t.source_id = $1 order by 1`,
          String(sent["id"]),
        ),
      ).toEqual([
        { kind: "advertiser_receivable", amount: tax },
        { kind: "tax_out", amount: `-${tax}` },
      ]);
      await world.expectInBalance();
    },
  );

  test("a dry run answers what would be made and changes nothing (N58)", async () => {
    const advertiserId = await world.advertiser({ billing_terms: "on_request" });
    await world.revenue({ advertiserId, amount: "4" });
    expect(await world.closeNow(advertiserId, { dry_run: true })).toMatchObject([
      { id: null, status: "draft", payable: "4.0000", terms: "on_request" },
    ]);
    expect(
      await world.rows("select 1 from invoice where advertiser_id = $1", advertiserId),
    ).toEqual([]);
    expect(await world.closeNow(advertiserId)).toMatchObject([{ payable: "4.0000" }]);
  });

  test("the task closes each ended period by the terms, and on_request never (N47, N58)", async () => {
    const weekly = await world.advertiser({ billing_terms: "weekly" });
    const net = await world.advertiser({ billing_terms: "net15" });
    const asked = await world.advertiser({ billing_terms: "on_request" });
    for (const advertiserId of [weekly, net, asked])
      await world.revenue({ advertiserId, amount: "4" });
    await world.closeAhead(0);
    const made = () =>
      world.rows(
        `select advertiser_id, terms, status, due_on, extract(day from period_to - period_from)::int as days,
           (due_on - (period_to at time zone 'UTC')::date) + 1 as net
         from invoice where advertiser_id = any($1) order by id`,
        [weekly, net, asked],
      );
    expect(await made()).toEqual([]);
    await world.closeAhead(62);
    await world.closeAhead(62);
    expect(await made()).toMatchObject([
      { advertiser_id: weekly, days: 7, net: 0, status: "draft" },
      { advertiser_id: net, net: 15, status: "draft" },
    ]);
    await world.expectInBalance();
  });

  test("the task waits for the grace hours and for changes that are not posted yet (N48)", async () => {
    const advertiserId = await world.advertiser({ billing_terms: "weekly" });
    await world.revenue({ advertiserId, amount: "4" });
    const { workspaceId } = world.tenant;
    const run = async () => {
      await closeEndedPeriods(api.pool, new AbortController().signal);
      return await world.rows("select status from invoice where advertiser_id = $1", advertiserId);
    };
    const set = (text: string) => world.rows(text, workspaceId);
    // As if it had been posted in the week before.
    await world.rows("alter table ledger_entry disable trigger is_final");
    await world.rows("update ledger_entry set posted_at = posted_at - interval '7 days'");
    await world.rows("alter table ledger_entry enable trigger is_final");
    await set("update billing_settings set period_grace_hours = 168 where workspace_id = $1");
    expect(await run()).toEqual([]);
    await set(
      "update billing_settings set period_grace_hours = 0, enabled = false where workspace_id = $1",
    );
    expect(await run()).toEqual([]);
    await set("update billing_settings set enabled = true where workspace_id = $1");
    await set(
      "insert into ledger_outbox (history_id, workspace_id, queued_at) values (1, $1, now() - interval '9 days')",
    );
    expect(await run()).toEqual([]);
    await set("delete from ledger_outbox where workspace_id = $1");
    expect(await run()).toEqual([{ status: "draft" }]);
    expect(await run()).toEqual([{ status: "draft" }]);
    await set("update billing_settings set period_grace_hours = 2 where workspace_id = $1");
  });

  test("closers that race each other and 40 posters make ranges that adjoin (I6)", async () => {
    const advertiserId = await world.advertiser();
    await Promise.all([
      ...Array.from({ length: 40 }, () => world.revenue({ advertiserId, amount: "1.0001" })),
      ...Array.from({ length: 6 }, () => world.closeNow(advertiserId)),
    ]);
    await world.closeNow(advertiserId);
    const ranges = await world.rows(
      `select from_seq, to_seq, carried_in, carried_out, lag(to_seq, 1, 0::bigint) over w as previous,
         lag(carried_out, 1, 0.0000) over w as left
       from invoice where advertiser_id = $1 and status <> 'void' window w as (order by to_seq, period_to)`,
      advertiserId,
    );
    for (const range of ranges) {
      expect(range["from_seq"]).toBe(range["previous"]);
      expect(range["carried_in"]).toBe(range["left"]);
    }
    expect(ranges.at(-1)?.["to_seq"]).toBe(40);
    await world.expectInBalance();
  });
});

describe("approval", () => {
  test("numbers have no gap over racing approvals, and one invoice gets one number (N49)", async () => {
    const drafts: number[] = [];
    for (let index = 0; index < 12; index += 1)
      drafts.push(await world.draft(await world.advertiser(), "3"));
    const answers = await Promise.all(
      [...drafts, ...drafts].map((id) => api.post(`/invoices/${id}/approve`, undefined)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(12);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(12);
    // Two transactions that took a number and were rolled back.
    for (const _ of [1, 2]) {
      const connection = await api.pool.connect();
      await connection.query({ text: "begin" });
      await connection.query({ text: "update billing_series set last_number = last_number + 1" });
      await connection.query({ text: "rollback" });
      connection.release();
    }
    await world.done(`/invoices/${await world.draft(await world.advertiser(), "3")}/approve`);
    const numbers = await world.rows(
      `select substring(number from '[0-9]+$')::int as number from invoice where workspace_id = $1 and kind = 'invoice'
         and number is not null order by 1`,
      world.tenant.workspaceId,
    );
    expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, index) => index + 1));
  });

  test("a number that another document has is refused by the prefix, and the draft stays (N49)", async () => {
    // Past 9,999 the digits of one series may look like the prefix of another one.
    await world.sent(await world.advertiser(), "3");
    await world.rows("update billing_series set last_number = 10000 where kind = 'invoice'");
    const { number } = await world.sent(await world.advertiser(), "3");
    const id = await world.draft(await world.advertiser(), "3");
    const setPrefix = (prefix: string) =>
      world.rows("update billing_settings set invoice_prefix = $1", prefix);
    await setPrefix(String(number).slice(0, -4));
    expect(refusal(await api.post(`/invoices/${id}/approve`, undefined))).toBe("409 conflict");
    await setPrefix("I-{year}-");
    expect(await world.done(`/invoices/${id}/approve`)).toMatchObject({ status: "sent" });
  });

  test("nothing is approved while the last audit has violations (N42)", async () => {
    const id = await world.draft(await world.advertiser(), "3");
    const { workspaceId } = world.tenant;
    await world.rows(
      `insert into billing_audit (workspace_id, audited_at, violations) values ($1, now(), '[{"invariant": "I3"}]')`,
      workspaceId,
    );
    expect(refusal(await api.post(`/invoices/${id}/approve`, undefined))).toBe("409 conflict");
    await world.rows(
      "update billing_audit set violations = '[]' where workspace_id = $1",
      workspaceId,
    );
    expect(await world.done(`/invoices/${id}/approve`)).toMatchObject({ status: "sent" });
  });

  test("the files are made once, escape names, and never change (N10)", async () => {
    const advertiserId = await world.advertiser({ company: `=1+1 <b>"Shop"` });
    const { id, number } = await world.sent(advertiserId, "9.99");
    const html = await api.get(`/invoices/${id}/files/html`);
    expect(html.headers.get("content-type")).toMatch(/^text\/html/);
    expect(html.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(html.text).toContain(`Invoice ${String(number)}`);
    expect(html.text).toContain("=1+1 &lt;b&gt;&quot;Shop&quot;");
    expect(html.text).toContain("Network &lt;Ltd&gt;");
    expect(html.text).not.toContain("<b>");
    const csv = await api.get(`/invoices/${id}/files/csv`);
    expect(csv.text).toContain(`${String(number)},Amount due,,9.99,EUR\r\n`);
    await api.patch(`/advertisers/${advertiserId}`, { company: "Other" });
    expect((await api.get(`/invoices/${id}/files/html`)).text).toBe(html.text);
    const draft = await world.draft(advertiserId, "1");
    expect(refusal(await api.get(`/invoices/${draft}/files/html`))).toBe("404 not_found");
    expect(refusal(await api.get(`/invoices/${id}/files/exe`))).toBe("404 not_found");
  });

  test("only the newest draft can be made void, and its range is invoiced again (N49)", async () => {
    const advertiserId = await world.advertiser();
    const first = await world.draft(advertiserId, "3");
    const second = await world.draft(advertiserId, "4.0050");
    expect(refusal(await api.post(`/invoices/${first}/void`, undefined))).toBe("409 conflict");
    expect(await world.done(`/invoices/${second}/void`)).toMatchObject({
      status: "void",
      voided_at: someText,
    });
    expect(refusal(await api.post(`/invoices/${second}/void`, undefined))).toBe("409 conflict");
    expect(refusal(await api.post(`/invoices/${second}/approve`, undefined))).toBe("409 conflict");
    expect(await world.closeNow(advertiserId)).toMatchObject([{ total: "4.0050" }]);
    await world.done(`/invoices/${first}/approve`);
    expect(refusal(await api.post(`/invoices/${first}/void`, undefined))).toBe("409 conflict");
    await world.expectInBalance();
  });
});

describe("what was invoiced never changes", () => {
  test("a reversal after an invoice is on the next one, the paid invoice stays as it is (N44, N58)", async () => {
    const advertiserId = await world.advertiser();
    const offer = await api.offer({ advertiser_id: advertiserId });
    await world.revenue({ advertiserId, offerId: offer.id, amount: "50" });
    const [made] = await world.closeNow(advertiserId);
    const id = String(made?.["id"]);
    await world.done(`/invoices/${id}/approve`);
    expect((await world.pay(advertiserId, "50")).status).toBe(201);
    const paid = await world.invoice(id);
    expect(paid).toMatchObject({ status: "paid", open: "0.0000" });
    await world.revenue(
      { advertiserId, offerId: offer.id, amount: "-50" },
      { advertiserId, offerId: offer.id, amount: "60" },
    );
    expect(await world.closeNow(advertiserId)).toMatchObject([
      {
        total: "10.0000",
        lines: [{ kind: "conversions" }, { kind: "reversal", amount: "-50.0000" }],
      },
    ]);
    // "Synchronise" again in every way there is.
    await world.closeNow(advertiserId);
    await world.closeAhead(100);
    await world.pay(advertiserId, "3");
    expect(await world.invoice(id)).toEqual(paid);
    await world.expectInBalance();
  });

  test.each([
    "update invoice set total = total + 1, payable = payable + 1, gross = gross + 1 where id = $1",
    "update invoice set to_seq = to_seq + 1 where id = $1",
    "update invoice set number = 'X' where id = $1",
    "update invoice set parties = '{}' where id = $1",
    "update invoice set due_on = due_on + 1 where id = $1",
    "update invoice set status = 'draft', number = null where id = $1",
    "delete from invoice where id = $1",
    "update invoice_line set amount = amount + 1 where invoice_id = $1",
    "delete from invoice_line where invoice_id = $1",
  ])("%s is refused also of SQL (N8)", async (text) => {
    const { id } = await world.sent(await world.advertiser(), "3");
    await expect(world.rows(text, id)).rejects.toMatchObject({ code: /^(42501|23514)$/ });
  });

  test("an invoice that does not continue the last one is refused also of SQL (I6)", async () => {
    const id = await world.draft(await world.advertiser(), "3");
    const copy = (from: string, carried: string) =>
      world.rows(
        `insert into invoice (workspace_id, advertiser_id, account_id, currency, status, terms, period_from, period_to, timezone, from_seq,
           to_seq, carried_in, total, payable, gross, carried_out, due_on)
         select workspace_id, advertiser_id, account_id, currency, 'carried', terms, period_to, period_to + interval '1 day', timezone,
           ${from}, to_seq + 5, ${carried}, ${carried}, 0, 0, ${carried}, due_on from invoice where id = $1`,
        id,
      );
    await expect(copy("from_seq", "0")).rejects.toMatchObject({ code: "23514" });
    await expect(copy("to_seq + 1", "0")).rejects.toMatchObject({ code: "23514" });
    await expect(copy("to_seq", "1")).rejects.toMatchObject({ code: "23514" });
  });
});
