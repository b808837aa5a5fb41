import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, record, refusal } from "../api/api-world.ts";

const world = await forThisFile(ApiWorld.open());
const offer = await world.offer({
  payout_type: "cps",
  payout: "10",
  revenue_type: "rps",
  revenue: "20",
});
await world.startProcessor();

async function converted(fields: Json = {}): Promise<string> {
  const answer = await world.post("/conversions", {
    offer_id: offer.id,
    affiliate_id: world.tenant.affiliateId,
    sale_amount: "100",
    ...fields,
  });
  return String(record(answer).id);
}

const patch = async (id: string, body: Json) => await world.patch(`/conversions/${id}`, body);

test("a new sale amount computes percentages again and keeps the status (N130, G108)", async () => {
  const id = await converted();
  expect(
    record(await patch(id, { sale_amount: "250.5", reason: "returned a part" })),
  ).toMatchObject({
    status: "approved",
    status_reason: "returned a part",
    sale_amount: "250.5000",
    payout: "25.0500",
    revenue: "50.1000",
  });
});

test("an amount that is given is final: a later sale amount leaves it (N130, N16)", async () => {
  const id = await converted();
  expect(record(await patch(id, { payout: "3", status: "pending" }))).toMatchObject({
    status: "pending",
    status_reason: "manual",
    payout: "3.0000",
    revenue: "20.0000",
  });
  expect(record(await patch(id, { sale_amount: "200" }))).toMatchObject({
    payout: "3.0000",
    revenue: "40.0000",
  });
});

test("equal amounts change nothing, and each change has its history and ledger entry (N130)", async () => {
  const { workspaceId } = world.tenant;
  await world.pool.query({
    text: "insert into billing_settings (workspace_id, enabled, starts_on) values ($1, true, '2020-01-01')",
    values: [workspaceId],
  });
  const id = await converted();
  await patch(id, { revenue: "20", payout: "10", reason: "the same" });
  await patch(id, { revenue: "21" });
  await patch(id, { status: "rejected" });
  await patch(id, { payout: "5" });
  const history = await world.rows(
    `select h.from_status, h.to_status, h.reason, h.to_payout, h.to_revenue, o.history_id is not null as posted
     from conversion_history h left join ledger_outbox o on o.history_id = h.id where h.conversion_id = $1 order by h.id`,
    [id],
  );
  const approved = { to_status: "approved", to_payout: "10.0000", posted: true };
  const rejected = { to_status: "rejected", reason: "manual", to_revenue: "21.0000" };
  expect(history).toEqual([
    { ...approved, from_status: null, reason: "", to_revenue: "20.0000" },
    { ...approved, from_status: "approved", reason: "manual", to_revenue: "21.0000" },
    { ...rejected, from_status: "approved", to_payout: "10.0000", posted: true },
    // A rejected conversion earns nothing before and after.
    { ...rejected, from_status: "rejected", to_payout: "5.0000", posted: false },
  ]);
});

test("amounts keep a hold, and are refused for duplicates and in other forms (N130)", async () => {
  const id = await converted({ status: "pending" });
  const hold = "2036-01-01T00:00:00.000Z";
  await world.pool.query({
    text: "update conversion set hold_until = $2 where id = $1",
    values: [id, hold],
  });
  await patch(id, { payout: "1" });
  const held = async () =>
    await world.rows("select hold_until from conversion where id = $1", [id]);
  expect(await held()).toEqual([{ hold_until: hold }]);
  await patch(id, { status: "pending", payout: "2" });
  expect(await held()).toEqual([{ hold_until: null }]);
  for (const payout of ["-1", "1,5", "1.00001"])
    expect(details(await patch(id, { payout })).fields).toHaveProperty("payout");
  await world.pool.query({
    text: "update conversion set is_duplicate = true, status = 'rejected' where id = $1",
    values: [id],
  });
  for (const body of [{ payout: "3" }, { payout: "3", status: "rejected" }]) {
    const refused = await patch(id, body);
    expect(`${refusal(refused)} ${details(refused).field}`).toBe("409 conflict payout");
  }
  const { analyst } = world.tenant.keys;
  expect(refusal(await world.patch(`/conversions/${id}`, { payout: "1" }, analyst))).toBe(
    "403 read_only_key",
  );
});
