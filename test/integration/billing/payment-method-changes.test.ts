import { expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { MailServer } from "../../system/mail-server.ts";
import { until } from "../../system/until.ts";
import { ApiWorld, type Json, record, refusal } from "../api/api-world.ts";

const server = await forThisFile(MailServer.open());
const from = "Tracker <tracker@first.example>";
const world = await forThisFile(ApiWorld.open({ mail: { url: server.url, from } }));
const { workspaceId, keys } = world.tenant;
const IBAN = "DE89370400440532013000";
const OTHER_IBAN = "GB29NWBK60161331926819";
const WIRE = { holder: "Anna Example", iban: IBAN };
const EVENT = "affiliate.payment_method_changed";
const hook = { name: "CRM", url: "https://crm.example/hook", events: [EVENT] };
record(await world.post("/webhooks", hook));
let partners = 0;

const Changes = z.array(
  z.looseObject({
    resource: z.string(),
    resource_id: z.string(),
    key_id: z.int().nullable(),
    address: z.string().nullable(),
    before: z.record(z.string(), z.unknown()),
    after: z.record(z.string(), z.unknown()),
  }),
);

/** A partner with an address and a key of its own. */
async function partner(): Promise<{ id: number; email: string; key: string; keyId: unknown }> {
  partners += 1;
  const email = `anna${partners}@partner.example`;
  const id = Number(record(await world.post("/affiliates", { name: "Anna", email })).id);
  const key = await insertKey(world.pool, {
    workspaceId,
    name: `own ${partners}`,
    role: "partner",
    affiliateId: id,
  });
  const [row] = await world.rows<{ id: number }>("select id from api_key where name = $1", [
    `own ${partners}`,
  ]);
  return { id, email, key, keyId: row?.id };
}

async function put(path: string, body: Json, key = keys.admin) {
  return await world.call("PUT", path, { body, key });
}

/** Newest first. */
async function changesOf(id: number) {
  const answer = await world.get(`/changes?resource_id=${id}`);
  return Changes.parse(answer.body["data"]);
}

async function eventsOf(id: number): Promise<number> {
  const [row] = await world.rows<{ count: number }>(
    `select count(*)::int from delivery where workspace_id = $1 and event = $2
       and (facts ->> 'body')::json -> 'data' ->> 'affiliate_id' = $3`,
    [workspaceId, EVENT, String(id)],
  );
  return row?.count ?? 0;
}

function mailsTo(email: string): string[] {
  return server.mails.filter((mail) => mail.includes(`To: ${email}`));
}

async function untilMailed(email: string, count: number): Promise<string> {
  await until(`${email} has ${count} mails`, () => Promise.resolve(mailsTo(email).length >= count));
  expect(mailsTo(email)).toHaveLength(count);
  return mailsTo(email).at(-1) ?? "";
}

test("a change of the method is logged with key and address, mailed to the old address and told (N13, N32)", async () => {
  const { id, email, key, keyId } = await partner();
  const body = { payment_method: "wire", payment_details: WIRE };
  expect((await put("/me/payment-method", body, key)).status).toBe(200);
  expect(await changesOf(id)).toMatchObject([
    {
      resource: "payment-method",
      resource_id: String(id),
      key_id: keyId,
      address: "127.0.0.1",
      before: { payment_method: "other", payment_details: {}, changed_at: null },
      after: { payment_method: "wire", payment_details: { iban: "DE89…3000" } },
    },
  ]);
  expect(await eventsOf(id)).toBe(1);
  const mail = await untilMailed(email, 1);
  expect(mail).toContain("Subject: Your payment method has changed");
  expect(mail).toContain("127.0.0.1");
  expect(mail).not.toContain(IBAN);
  // The same again is no change.
  expect((await put("/me/payment-method", body, key)).status).toBe(200);
  expect([(await changesOf(id)).length, await eventsOf(id)]).toEqual([1, 1]);
  // Other details with the same ends are one.
  const twin = { ...WIRE, iban: "DE89 3704 0044 0532 0130 00", holder: "Anna Other" };
  expect((await put("/me/payment-method", { ...body, payment_details: twin }, key)).status).toBe(
    200,
  );
  expect([(await changesOf(id)).length, await eventsOf(id)]).toEqual([2, 2]);
  await untilMailed(email, 2);
});

test("a PATCH of the staff that also changes the address is mailed to the one before it (N32)", async () => {
  const { id, email } = await partner();
  const secret = "4929 1234 5678 9012";
  const answer = await world.patch(`/affiliates/${id}`, {
    email: "eve@evil.example",
    payment_method: "wallet_a",
    payment_details: { account: secret, iban: OTHER_IBAN, pin: "123" },
  });
  expect(answer.status, answer.text).toBe(200);
  await untilMailed(email, 1);
  expect(mailsTo("eve@evil.example")).toEqual([]);
  const [change] = await changesOf(id);
  expect(change).toMatchObject({
    after: { payment_method: "wallet_a", payment_details: { iban: "GB29…6819", pin: "…" } },
  });
  const stored = await world.rows<{ row: string }>("select c::text as row from change_log c");
  for (const { row } of stored)
    for (const text of [secret, IBAN, OTHER_IBAN, "123\\"]) expect(row).not.toContain(text);
});

test("people who sign in for the partner are told, too (N32)", async () => {
  const { id, email, key } = await partner();
  const member = "member@partner.example";
  const personId = await world.insert("person", { email: member, name: "Member" });
  await world.insert("membership", {
    person_id: personId,
    workspace_id: workspaceId,
    role: "partner",
    affiliate_id: id,
  });
  await put("/me/payment-method", { payment_method: "wire", payment_details: WIRE }, key);
  for (const to of [member, email])
    expect(await untilMailed(to, 1)).toContain("Subject: Your payment method has changed");
});

test("a change of the tax is logged, mailed and told, and holds nothing (N13, N32)", async () => {
  const { id, email } = await partner();
  const path = `/affiliates/${id}/payment-method`;
  const tax = { country: "DE", vat_id: "DE123", mode: "domestic", rate: "19" };
  const changed = await put(path, { payment_method: "other", tax });
  expect(changed.status, changed.text).toBe(200);
  expect(changed.body["data"]).toMatchObject({ held_until: null, changed_at: null });
  expect(await changesOf(id)).toMatchObject([
    {
      resource: "affiliate-tax",
      address: "127.0.0.1",
      before: { country: "", mode: "none", rate: "0.0000", vat_id: "" },
      after: { country: "DE", mode: "domestic", rate: "19.0000", vat_id: "DE123" },
    },
  ]);
  expect(await untilMailed(email, 1)).toContain("Subject: Your tax details have changed");
  expect((await put(path, { payment_method: "other", tax })).status).toBe(200);
  expect([(await changesOf(id)).length, await eventsOf(id)]).toEqual([1, 1]);
});

test("the tax of an advertiser and the billing settings are logged with key and address (N13)", async () => {
  const { advertiserId } = world.tenant;
  const tax = { mode: "domestic", rate: "20", country: "GB" };
  expect((await put(`/advertisers/${advertiserId}/tax`, tax)).status).toBe(200);
  expect(await changesOf(advertiserId)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        resource: "advertiser-tax",
        address: "127.0.0.1",
        after: { mode: "domestic", rate: "20.0000", country: "GB" },
      }),
    ]),
  );
  await world.patch("/billing-settings", { language: "de" });
  const answer = await world.get("/changes?resource=billing-settings");
  expect(Changes.parse(answer.body["data"])).toMatchObject([
    {
      resource_id: "",
      address: "127.0.0.1",
      before: { language: "en" },
      after: { language: "de" },
    },
  ]);
});

test("a refused change is logged, mailed and told to nobody (N32)", async () => {
  const { id, email, key } = await partner();
  const bad = {
    payment_method: "wire",
    payment_details: { ...WIRE, iban: "DE00370400440532013000" },
  };
  expect(refusal(await put("/me/payment-method", bad, key))).toBe("400 validation_failed");
  const good = { payment_method: "wire", payment_details: WIRE };
  const both = { ...good, tax: { mode: "domestic", rate: "10" } };
  expect(refusal(await put("/me/payment-method", both, key))).toBe("400 validation_failed");
  expect([await changesOf(id), await eventsOf(id)]).toEqual([[], 0]);
  // The next mail is the first.
  expect((await put("/me/payment-method", good, key)).status).toBe(200);
  await untilMailed(email, 1);
});
