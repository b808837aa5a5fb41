import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { type CreateCommand, createCommand, statusCommand } from "./staff-commands.ts";
import { TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open());

type Fields = Partial<CreateCommand> & Pick<CreateCommand, "offerId">;

async function created(fields: Fields): Promise<string> {
  const reply = await world.command(createCommand(world, fields));
  if (reply.kind !== "created") throw new Error(JSON.stringify(reply));
  return reply.id;
}

async function setStatus(
  ids: string[],
  status: "approved" | "pending" | "rejected",
  bulk = false,
): Promise<unknown> {
  return await world.command(statusCommand(world, { keyId: 4, ids, bulk, status }));
}

test("a conversion by staff has method api and its terms (CNV-014, CNV-015, CNV-017, CNV-019)", async () => {
  const offerId = await world.addOffer({
    payout_type: "cps",
    payout: "10",
    revenue_type: "rps",
    revenue: "20",
  });
  const plain = await created({
    offerId,
    saleAmount: "200",
    advTxid: "X",
    notes: "n",
    click: { sub1: "s" },
  });
  expect(await world.conversion(plain)).toMatchObject({
    method: "api",
    status: "approved",
    payout: "20.0000",
    revenue: "40.0000",
    adv_txid: "X",
    notes: "n",
    click: { sub1: "s" },
  });
  const given = await created({ offerId, payout: "1.5", revenue: "2", status: "rejected" });
  expect(await world.conversion(given)).toMatchObject({
    payout: "1.5000",
    revenue: "2.0000",
    status_reason: "manual",
  });
});

test("a reference to a missing record is refused by field (CNV-020, CNV-021, CNV-022)", async () => {
  const offerId = await world.addOffer();
  const refusedFields = async (fields: Fields): Promise<unknown> => {
    const reply = await world.command(createCommand(world, fields));
    return reply.kind === "refused" && reply.code === "validation_failed"
      ? Object.keys(reply.fields ?? {})
      : reply;
  };
  expect(await refusedFields({ offerId, eventCode: "zz" })).toEqual(["event"]);
  expect(await refusedFields({ offerId: 999_999, affiliateId: 999_999 })).toEqual([
    "offer_id",
    "affiliate_id",
  ]);
  expect(await refusedFields({ offerId, affiliateId: null })).toEqual(["affiliate_id"]);
  expect(await refusedFields({ offerId, clickId: "0".repeat(32) })).toEqual(["click_id"]);
  expect(await refusedFields({ offerId, currency: "XXX", saleAmount: "1" })).toEqual(["currency"]);
});

test("an order id counts once per offer; a click's repeat is a duplicate (CNV-023, CNV-024, G91, G193)", async () => {
  const [one, two] = [await world.addOffer(), await world.addOffer()];
  await created({ offerId: one, advTxid: "O" });
  await created({ offerId: two, advTxid: "O" });
  expect(await world.command(createCommand(world, { offerId: one, advTxid: "O" }))).toMatchObject({
    kind: "refused",
    code: "conflict",
    field: "adv_txid",
  });
  const click = await world.addClick({ offer_id: one });
  await created({ offerId: one, clickId: click.click_id, affiliateId: null });
  const again = await created({ offerId: one, clickId: click.click_id, affiliateId: null });
  expect(await world.conversion(again)).toMatchObject({ is_duplicate: true, status: "rejected" });
  await created({ offerId: one });
  await created({ offerId: one });
  expect(
    await world.rows("select id from conversion where offer_id = $1 and not is_duplicate", [one]),
  ).toHaveLength(4);
});

test("staff sets a status, repeatably, with history (CNV-026, CNV-027, CNV-029, CNV-032, T63)", async () => {
  const id = await created({ offerId: await world.addOffer() });
  const changed = {
    kind: "changed",
    updated: [{ id, status: "rejected", status_reason: "manual" }],
    notFound: [],
    skippedDuplicates: 0,
  };
  expect(await setStatus([id], "rejected")).toEqual(changed);
  expect(await setStatus([id], "rejected")).toEqual(changed);
  expect(await world.conversion(id)).toMatchObject({ version: 2, status: "rejected" });
  const history = await world.rows(
    "select actor, key_id, to_status from conversion_history where conversion_id = $1 order by id",
    [id],
  );
  expect(history).toEqual([
    { actor: "api", key_id: 1, to_status: "approved" },
    { actor: "api", key_id: 4, to_status: "rejected" },
  ]);
  expect(await setStatus([randomUUID()], "approved")).toMatchObject({
    kind: "refused",
    code: "not_found",
  });
});

test("many statuses are set in order, without duplicates (CNV-030, CNV-031, CNV-033, CNV-034, G94)", async () => {
  const offerId = await world.addOffer();
  const click = await world.addClick({ offer_id: offerId });
  const ids = [await created({ offerId }), await created({ offerId, clickId: click.click_id })];
  const duplicate = await created({ offerId, clickId: click.click_id });
  const unknown = randomUUID();
  const [first = "", second = ""] = ids;
  expect(await setStatus([second, unknown, duplicate, first, second], "pending", true)).toEqual({
    kind: "changed",
    updated: [second, first].map((id) => ({ id, status: "pending", status_reason: "manual" })),
    notFound: [unknown],
    skippedDuplicates: 1,
  });
  expect(await setStatus([duplicate], "approved")).toMatchObject({
    code: "conflict",
    field: "status",
  });
  expect(await setStatus([duplicate], "rejected")).toMatchObject({ kind: "changed" });
});
