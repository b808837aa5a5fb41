import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, refusal } from "../api/api-world.ts";
import { UpdateCalls } from "./update-calls.ts";

const world = await forThisFile(ApiWorld.open({ allowLoopback: true }));
const calls = new UpdateCalls(world, world.tenant);
const offer = await world.offer({ code: "SHOES" });
const other = await world.offer({ code: "BOOTS" });
let prefixes = 0;

/** A prefix of orders that no other test uses. */
function orders(): string {
  prefixes += 1;
  return `T${prefixes}`;
}

const NO_ROWS = {
  changed: 0,
  unchanged: 0,
  unknown: 0,
  refused: 0,
  duplicate_row: 0,
  undone: 0,
  kept: 0,
  missing: 0,
};

test("a row names a conversion by id, by offer and order, or by click, and a check changes nothing (N129)", async () => {
  const prefix = orders();
  const [byId = ""] = await calls.insertConversions(offer.id, prefix, { count: 3 });
  const click = "ab".repeat(16);
  await calls.insertConversions(offer.id, `${prefix}-c`, { click_id: click });
  const checked = await calls.checked(
    "conversion_id,offer,txid,click_id,status,sale_amount,reason\n" +
      `${byId.toUpperCase()},,,,approved,,\n` +
      `,SHOES,${prefix}-2,,approved,200,checked\n` +
      `,${offer.id},${prefix}-3,,rejected,,returned\n` +
      `,,,${click.toUpperCase()},approved,,\n` +
      `,SHOES,${prefix}-9,,approved,,\n`,
    { name: "march.csv" },
  );
  expect(checked).toMatchObject({
    name: "march.csv",
    status: "checked",
    rows: 6,
    counts: { ...NO_ROWS, changed: 4, unknown: 1 },
    sums: [
      {
        affiliate_id: world.tenant.affiliateId,
        affiliate_name: "Partner",
        currency: "USD",
        rows: 4,
        payout_before: "0.0000",
        payout_after: "20.0000",
        revenue_before: "0.0000",
        revenue_after: "60.0000",
      },
    ],
  });
  expect((await calls.states(prefix)).every((state) => state.includes(" pending "))).toBe(true);
  const applied = await calls.phase(checked.id, "apply");
  expect(applied).toMatchObject({ status: "done", counts: { changed: 4, unknown: 1 } });
  expect(await calls.states(prefix)).toEqual([
    `${prefix}-1 approved manual 100.0000 5.0000 15.0000`,
    `${prefix}-2 approved checked 200.0000 10.0000 30.0000`,
    `${prefix}-3 rejected returned 100.0000 5.0000 15.0000`,
    `${prefix}-c-1 approved manual 100.0000 5.0000 15.0000`,
  ]);
});

test("a file sent again changes nothing, and leaves no history (N129)", async () => {
  const prefix = orders();
  const ids = await calls.insertConversions(offer.id, prefix, { count: 2 });
  const content = `offer,txid,status,payout\nSHOES,${prefix}-1,approved,7.5\nSHOES,${prefix}-2,rejected,\n`;
  expect((await calls.applied(content)).counts).toMatchObject({ changed: 2 });
  const after = await calls.states(prefix);
  expect(after[0]).toBe(`${prefix}-1 approved manual 100.0000 7.5000 15.0000`);
  const again = await calls.applied(content);
  expect(again).toMatchObject({ status: "done", counts: { ...NO_ROWS, unchanged: 2 } });
  expect(await calls.states(prefix)).toEqual(after);
  const history = await world.rows<{ count: number; actors: string[] }>(
    `select count(*)::integer as count, array_agg(distinct actor) as actors from conversion_history where conversion_id = any ($1::uuid[])`,
    [ids],
  );
  expect(history).toEqual([{ count: 2, actors: ["api"] }]);
});

test("what is ambiguous, doubled, of another currency or a duplicate is refused by row and field (N129)", async () => {
  const prefix = orders();
  await calls.insertConversions(offer.id, prefix, { count: 2 });
  await calls.insertConversions(offer.id, prefix, { event_code: "lead" });
  const [duplicate = ""] = await calls.insertConversions(other.id, `${prefix}-d`, {
    is_duplicate: true,
    status: "rejected",
  });
  const checked = await calls.checked(
    "conversion_id,offer,txid,event,status,currency\n" +
      `,SHOES,${prefix}-1,,approved,\n` +
      `,SHOES,${prefix}-1,lead,approved,usd\n` +
      `,SHOES,${prefix}-2,,approved,EUR\n` +
      `,SHOES,${prefix}-1,lead,rejected,\n` +
      `${duplicate},,,,approved,\n` +
      `,BOOTS,${prefix}-d-1,,approved,\n` +
      `,,${prefix}-1,,approved,\n` +
      ",,,,approved,\n",
  );
  expect(
    (await calls.rows(checked.id)).map(({ row, outcome, faults }) => [row, outcome, faults]),
  ).toEqual([
    [2, "refused", { txid: "names several conversions: add the event, or use conversion_id" }],
    [3, "changed", {}],
    [4, "refused", { currency: "the conversion is in USD" }],
    [5, "duplicate_row", {}],
    [6, "refused", { conversion_id: "duplicates can only be rejected" }],
    [7, "unknown", {}],
    [8, "refused", { offer: "required beside txid" }],
    [9, "refused", { "": "names no conversion: give conversion_id, offer and txid, or click_id" }],
  ]);
  expect((await calls.rows(checked.id, "unknown")).map(({ row }) => row)).toEqual([7]);
  const alone = await calls.checked(`txid,status\n${prefix}-2,approved\n`, {
    offer_ids: String(offer.id),
  });
  expect(alone.counts).toMatchObject({ changed: 1 });
});

test("values are refused with what to write instead (N129)", async () => {
  const prefix = orders();
  await calls.insertConversions(offer.id, prefix, { count: 4 });
  const { id, status } = await calls.checked(
    "offer;txid;status;sale_amount;payout\n" +
      `SHOES;${prefix}-1;approved;1.200,50;\nSHOES;${prefix}-2;perhaps;;\nSHOES;${prefix}-3;;;-1\nSHOES;${prefix}-4;;;\n`,
  );
  expect(status).toBe("checked");
  expect((await calls.rows(id, "refused")).map(({ faults }) => faults)).toEqual([
    { sale_amount: "has a comma: write 1200.50, not 1,200.50 or 1200,50" },
    { status: "expected approved, pending, rejected or a usual word for one of them" },
    { payout: "must not be negative" },
    { status: "required unless there is an amount, a reason or a note" },
  ]);
});

test("files of spreadsheets and of other systems are read as they are (N129)", async () => {
  const prefix = orders();
  await calls.insertConversions(offer.id, prefix, { count: 4 });
  const excel =
    `\uFEFFOrder ID;Offer;Order Value;State;Ad group;;\r\n${prefix}-1;SHOES;50;Confirmed;x;;\r\n` +
    `${prefix}-2;SHOES;;VOID;;;\r\n;;;;;;\r\n`;
  const checked = await calls.checked(excel, { name: "export.csv" });
  expect(checked).toMatchObject({ counts: { ...NO_ROWS, changed: 2 } });
  expect(checked.columns).toEqual({
    "Order ID": "txid",
    Offer: "offer",
    "Order Value": "sale_amount",
    State: "status",
    "Ad group": "",
  });
  const lines = [3, 4].map((n) =>
    JSON.stringify({ transactionId: `${prefix}-${n}`, offer: offer.id, "My state": "declined" }),
  );
  const json = await calls.checked(lines.join("\n"), {
    columns: JSON.stringify({ "My state": "status" }),
  });
  expect(json).toMatchObject({ counts: { ...NO_ROWS, changed: 2 } });
  await calls.phase(checked.id, "apply");
  expect((await calls.states(prefix)).slice(0, 2)).toEqual([
    `${prefix}-1 approved manual 50.0000 2.5000 7.5000`,
    `${prefix}-2 rejected manual 100.0000 5.0000 15.0000`,
  ]);
});

test("a file without names of conversions, without rows or with 200,001 rows is refused (N129)", async () => {
  const said = async (content: string) => {
    const answer = await calls.send(content);
    return `${refusal(answer)} ${JSON.stringify(answer.body)}`;
  };
  expect(await said("status,payout\napproved,1\n")).toMatch(
    /^400 invalid_request .*No column names a conversion/,
  );
  expect(await said("txid,offer,status\n")).toMatch(/^400 invalid_request .*has no rows/);
  expect(await said(`txid,offer,status\n${"A,B,approved\n".repeat(200_001)}`)).toMatch(
    /^400 invalid_request .*has more than 200000 rows/,
  );
  const kept = await world.rows("select id from conversion_update where status = 'reading'");
  expect(kept).toEqual([]);
});

test("conversions that the file does not name are rejected, and come back by undo (N129)", async () => {
  const prefix = orders();
  const lone = await world.offer({ code: `LONE${prefix}` });
  await calls.insertConversions(lone.id, prefix, { count: 3, status: "approved" });
  await calls.insertConversions(lone.id, `${prefix}-later`, { conv_ts: "2026-02-01T00:00:00Z" });
  await calls.insertConversions(other.id, `${prefix}-other`);
  const before = await calls.states(prefix);
  const query = {
    missing: "reject",
    offer_ids: String(lone.id),
    from: "2026-01-01",
    to: "2026-01-31",
    missing_reason: "not confirmed",
  };
  const unclear = await calls.checked(`txid,status\n${prefix}-1,approved\n,approved\n`, query);
  const refused = await calls.call("POST", `/conversion-updates/${unclear.id}/apply`);
  expect(`${refusal(refused)} ${details(refused).field}`).toBe("409 conflict status");
  const applied = await calls.applied(
    `txid,status,payout\n${prefix}-1,approved,\n${prefix}-3,approved,9\n`,
    query,
  );
  expect(applied.counts).toEqual({ ...NO_ROWS, changed: 2, unchanged: 1, missing: 1 });
  expect(await calls.states(prefix)).toEqual(
    before
      .with(1, `${prefix}-2 rejected not confirmed 100.0000 5.0000 15.0000`)
      .with(2, `${prefix}-3 approved manual 100.0000 9.0000 15.0000`),
  );
  expect(await calls.phase(applied.id, "undo")).toMatchObject({
    status: "undone",
    counts: { ...NO_ROWS, undone: 2, unchanged: 1, missing: 1 },
  });
  expect(await calls.states(prefix)).toEqual(before);
  const bad = await calls.send("txid,status\nx,approved\n", { missing: "reject" });
  expect(`${refusal(bad)} ${details(bad).param}`).toBe("400 invalid_parameter offer_ids");
});

test("undo restores only what is still as the file made it, with its hold (N129)", async () => {
  const prefix = orders();
  const hold = "2036-01-01T00:00:00.000Z";
  const [, second = ""] = await calls.insertConversions(offer.id, prefix, {
    count: 2,
    hold_until: hold,
  });
  const applied = await calls.applied(
    `offer,txid,status\nSHOES,${prefix}-1,approved\nSHOES,${prefix}-2,approved\n`,
  );
  await world.pool.query({
    text: "select set_conversion_status($1, array[$2::uuid], $3::jsonb, true, 1)",
    values: [world.tenant.workspaceId, second, '{"status": "rejected", "status_reason": "fraud"}'],
  });
  expect(await calls.phase(applied.id, "undo")).toMatchObject({
    counts: { ...NO_ROWS, undone: 1, kept: 1 },
  });
  expect(await calls.states(prefix)).toEqual([
    `${prefix}-1 pending 100.0000 5.0000 15.0000`,
    `${prefix}-2 rejected fraud 100.0000 5.0000 15.0000`,
  ]);
  expect(
    await world.rows("select hold_until from conversion where adv_txid = $1", [`${prefix}-1`]),
  ).toEqual([{ hold_until: hold }]);
});

test("undo is refused once an approved statement has money of the file (N129)", async () => {
  const prefix = orders();
  const [id = ""] = await calls.insertConversions(offer.id, prefix);
  const applied = await calls.applied(`offer,txid,status\nSHOES,${prefix}-1,approved\n`);
  const { workspaceId, affiliateId } = world.tenant;
  const entry = { currency: "USD", count: 1, conversion_id: id };
  await world.pool.query({
    text: "select source_id from post_ledger($1, $2)",
    values: [
      workspaceId,
      JSON.stringify([
        {
          source_kind: "history",
          source_id: "1",
          kind: "conversion",
          entries: [
            { ...entry, account: "payout_cost", owner_id: 0, amount: "5" },
            { ...entry, account: "partner_payable", owner_id: affiliateId, amount: "-5" },
          ],
        },
      ]),
    ],
  });
  // A statement in this state, without what led to it.
  await world.pool.query({ text: "alter table statement disable trigger user" });
  await world.pool.query({
    text: `insert into statement (workspace_id, affiliate_id, account_id, currency, number, status, terms, period_from, period_to, timezone,
             from_seq, to_seq, carried_in, total, min_payout, payable, gross, carried_out, due_on)
           select $1, $2, id, 'USD', 'S-1', 'approved', 'net_30', now(), now(), 'UTC', 0, 1, 0, 5, 0, 5, 5, 0, current_date
           from ledger_account where workspace_id = $1 and kind = 'partner_payable'`,
    values: [workspaceId, affiliateId],
  });
  const refused = await calls.call("POST", `/conversion-updates/${applied.id}/undo`);
  expect(`${refusal(refused)} ${details(refused).field}`).toBe("409 conflict status");
  expect((await calls.get(applied.id)).status).toBe("done");
});

test("each change fires its postback and its webhook once, and an unchanged row fires none (N129)", async () => {
  const prefix = orders();
  const sold = await world.offer({ code: `FIRE${prefix}` });
  const ids = await calls.insertConversions(sold.id, prefix, { count: 2 });
  const hook = await world.post("/webhooks", {
    name: "Hook",
    url: "http://127.0.0.1:9/hook",
    events: ["conversion.updated"],
  });
  expect(hook.status, hook.text).toBe(201);
  const postback = await world.post("/postbacks", {
    offer_id: sold.id,
    url: "http://127.0.0.1:9/postback",
    fire_on: "approved",
  });
  expect(postback.status, postback.text).toBe(201);
  const content = `offer,txid,status\n${sold.id},${prefix}-1,approved\n${sold.id},${prefix}-2,pending\n`;
  await calls.applied(content);
  await calls.applied(content);
  expect(
    await world.rows(
      "select kind, count(*)::integer as count from delivery where conversion_id = any ($1::uuid[]) group by kind order by kind",
      [ids],
    ),
  ).toEqual([
    { kind: "postback", count: 1 },
    { kind: "webhook", count: 1 },
  ]);
});

test("a row never touches a conversion of another workspace, and only staff of its own see a file (N129)", async () => {
  const foreign = await world.addTenant("foreign");
  const theirs = new UpdateCalls(world, foreign);
  const prefix = orders();
  const [id = ""] = await calls.insertConversions(offer.id, prefix, { click_id: "cd".repeat(16) });
  const seen = await theirs.applied(
    "conversion_id,offer,txid,click_id,status\n" +
      `${id},,,,approved\n,SHOES,${prefix}-1,,approved\n,${offer.id},${prefix}-1,,approved\n,,,${"cd".repeat(16)},approved\n`,
  );
  expect(seen.counts).toEqual({ ...NO_ROWS, unknown: 4 });
  expect(await calls.states(prefix)).toEqual([`${prefix}-1 pending 100.0000 5.0000 15.0000`]);
  for (const path of ["", "/rows"])
    expect(refusal(await calls.call("GET", `/conversion-updates/${seen.id}${path}`))).toBe(
      "404 not_found",
    );
  for (const verb of ["apply", "undo", "stop"])
    expect(refusal(await calls.call("POST", `/conversion-updates/${seen.id}/${verb}`))).toBe(
      "404 not_found",
    );
  const { analyst, partner, advertiser } = foreign.keys;
  expect((await theirs.call("GET", "/conversion-updates", { key: analyst })).status).toBe(200);
  for (const key of [partner, advertiser])
    expect(refusal(await theirs.call("GET", "/conversion-updates", { key }))).toBe("403 forbidden");
  const write = { key: analyst, raw: "txid,offer,status\na,b,approved\n" };
  expect(refusal(await theirs.call("POST", "/conversion-updates", write))).toBe(
    "403 read_only_key",
  );
});

test("a conversion that changed since the check is judged anew (N129)", async () => {
  const prefix = orders();
  const [first = "", second = ""] = await calls.insertConversions(offer.id, prefix, { count: 3 });
  const rows = [1, 2, 3].map((n) => `SHOES,${prefix}-${n},approved\n`);
  const { id } = await calls.checked(`offer,txid,status\n${rows.join("")}`);
  const set = async (conversion: string, change: unknown) =>
    await world.pool.query({
      text: "select set_conversion_status($1, array[$2::uuid], $3::jsonb, true, 1)",
      values: [world.tenant.workspaceId, conversion, JSON.stringify(change)],
    });
  await set(first, { sale_amount: "300", status_reason: "manual" });
  await set(second, { status: "approved", status_reason: "by hand" });
  expect(await calls.phase(id, "apply")).toMatchObject({
    counts: { ...NO_ROWS, changed: 2, unchanged: 1 },
    sums: [{ rows: 3, payout_before: "5.0000", payout_after: "25.0000" }],
  });
  expect(await calls.states(prefix)).toEqual([
    `${prefix}-1 approved manual 300.0000 15.0000 45.0000`,
    `${prefix}-2 approved by hand 100.0000 5.0000 15.0000`,
    `${prefix}-3 approved manual 100.0000 5.0000 15.0000`,
  ]);
  expect(await calls.phase(id, "undo")).toMatchObject({ counts: { undone: 2, unchanged: 1 } });
  expect(await calls.states(prefix)).toEqual([
    `${prefix}-1 pending manual 300.0000 15.0000 45.0000`,
    `${prefix}-2 approved by hand 100.0000 5.0000 15.0000`,
    `${prefix}-3 pending 100.0000 5.0000 15.0000`,
  ]);
});

test("a stopped file changes nothing more, and what it has changed can be undone (N129)", async () => {
  const prefix = orders();
  await calls.insertConversions(offer.id, prefix);
  const { id } = await calls.checked(`offer,txid,status\nSHOES,${prefix}-1,approved\n`);
  expect(await calls.phase(id, "stop")).toMatchObject({ status: "stopped" });
  const refused = await calls.call("POST", `/conversion-updates/${id}/apply`);
  expect(refusal(refused)).toBe("409 conflict");
  expect(refusal(await calls.call("POST", `/conversion-updates/${id}/undo`))).toBe("409 conflict");
  expect(await calls.states(prefix)).toEqual([`${prefix}-1 pending 100.0000 5.0000 15.0000`]);
});

test("files are listed newest first, by status (N129)", async () => {
  await calls.checked("offer,txid,status\nSHOES,none,approved\n", { name: "listed.csv" });
  const checked = list(await world.get("/conversion-updates?status=checked&limit=1"));
  expect(checked).toMatchObject([{ name: "listed.csv", counts: { ...NO_ROWS, unknown: 1 } }]);
});
