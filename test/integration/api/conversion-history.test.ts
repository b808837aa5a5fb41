import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import {
  type Answer,
  ApiWorld,
  details,
  type Json,
  nextCursor,
  record,
  refusal,
  someId,
  someText,
} from "./api-world.ts";
import { data, openAs } from "./people/person-browser.ts";

const world = await forThisFile(ApiWorld.open());
const stranger = await world.addTenant("stranger");
const offer = await world.offer({ events: [{ code: "hidden", is_private: true }] });
await world.startProcessor();

async function convert(fields: Json = {}): Promise<string> {
  const { affiliateId } = world.tenant;
  const made = { offer_id: offer.id, affiliate_id: affiliateId, ...fields };
  return String(record(await world.post("/conversions", made)).id);
}

/** A change has no id. */
function list({ body }: Pick<Answer, "body">): Json[] {
  return z.array(z.looseObject({})).parse(body["data"]);
}

test("a change made in the console names the person and no key (P19)", async () => {
  const id = await convert();
  const person = await openAs(world, "judge@first.example", world.tenant, { role: "admin" });
  const body = { status: "rejected", reason: "fake" };
  expect((await person.call("PATCH", `/conversions/${id}`, { body })).status).toBe(200);
  const bulk = { ids: [id], status: "pending" };
  expect((await person.call("PATCH", "/conversions", { body: bulk })).status).toBe(200);
  const made = await person.post("/conversions", {
    offer_id: offer.id,
    affiliate_id: world.tenant.affiliateId,
  });
  const actors = async (path: string): Promise<unknown[]> =>
    list(await world.get(`${path}/history`)).map((row) => [row["person_id"], row["key_id"]]);
  const byPerson = [person.personId, null];
  expect(await actors(`/conversions/${id}`)).toEqual([
    byPerson,
    byPerson,
    [null, expect.any(Number)],
  ]);
  expect(await actors(`/conversions/${String(data(made)["id"])}`)).toEqual([byPerson]);
  const seen = await world.get(`/conversions/${id}/history`, world.tenant.keys.partner);
  expect(seen.text).not.toContain("person_id");
});

async function setStatus(id: string, status: string, reason: string): Promise<void> {
  expect((await world.patch(`/conversions/${id}`, { status, reason })).status).toBe(200);
}

const MONEY = {
  from_revenue: "15.0000",
  to_revenue: "15.0000",
  from_payout: "10.0000",
  to_payout: "10.0000",
  from_sale_amount: "0.0000",
  to_sale_amount: "0.0000",
};

test("every change is listed with time, key, earlier values and reason, newest first (P19)", async () => {
  const id = await convert();
  await setStatus(id, "rejected", "fake");
  const bulk = await world.patch("/conversions", { ids: [id], status: "pending", reason: "look" });
  expect(bulk.status).toBe(200);
  const answer = await world.get(`/conversions/${id}/history`, world.tenant.keys.analyst);
  expect(Object.keys(answer.body).sort()).toEqual(["data", "next_cursor"]);
  expect(nextCursor(answer)).toBeNull();
  const change = { at: someText, actor: "api", key_id: someId, person_id: null, ...MONEY };
  expect(answer.body["data"]).toEqual([
    { ...change, from_status: "rejected", to_status: "pending", reason: "look" },
    { ...change, from_status: "approved", to_status: "rejected", reason: "fake" },
    {
      ...change,
      from_status: null,
      to_status: "approved",
      reason: "",
      from_revenue: null,
      from_payout: null,
      from_sale_amount: null,
    },
  ]);
  const times = list(answer).map((row) => String(row["at"]));
  expect(times).toEqual([...times].sort().reverse());
});

test("a change without effect, or a refused one, is not in the history (CNV-032)", async () => {
  const id = await convert();
  await setStatus(id, "rejected", "same");
  await setStatus(id, "rejected", "same");
  expect((await world.patch(`/conversions/${id}`, { status: "done" })).status).toBe(400);
  expect(list(await world.get(`/conversions/${id}/history`))).toHaveLength(2);
});

test("partner and advertiser see their own changes without hidden fields (VIS-023, VIS-031, VIS-058)", async () => {
  const id = await convert();
  const seen = async (key: string) => {
    const [first = {}] = list(await world.get(`/conversions/${id}/history`, key));
    return Object.keys(first);
  };
  const { admin, analyst, partner, advertiser } = world.tenant.keys;
  const all = await seen(admin);
  expect([...all].sort()).toEqual(
    [
      "actor",
      "at",
      "from_status",
      "key_id",
      "person_id",
      "reason",
      "to_status",
      ...Object.keys(MONEY),
    ].sort(),
  );
  const without = (...fields: string[]) => all.filter((field) => !fields.includes(field));
  expect(await seen(analyst)).toEqual(all);
  expect(await seen(partner)).toEqual(without("key_id", "person_id", "from_revenue", "to_revenue"));
  expect(await seen(advertiser)).toEqual(
    without("key_id", "person_id", "from_payout", "to_payout"),
  );
});

test("the history of a conversion that a key may not read is 404 (VIS-029, VIS-030, VIS-036, CNV-008)", async () => {
  const [open, hidden] = [await convert(), await convert({ event: "hidden" })];
  const { admin, partner, advertiser } = world.tenant.keys;
  const statusOf = async (id: string, key: string) =>
    (await world.get(`/conversions/${id}/history`, key)).status;
  expect(await statusOf(hidden, advertiser)).toBe(200);
  const refused: [string, string][] = [[hidden, partner]];
  for (const key of Object.values(stranger.keys)) refused.push([open, key]);
  for (const id of [randomUUID(), "x"]) refused.push([id, admin], [id, partner]);
  for (const [id, key] of refused)
    expect(refusal(await world.get(`/conversions/${id}/history`, key))).toBe("404 not_found");
  const unnamed = await world.call("GET", `/conversions/${open}/history`, { key: undefined });
  expect(unnamed.status).toBe(401);
});

test("a long history is paged, and a cursor is valid for its conversion only (ENV-004)", async () => {
  const [id, other] = [await convert(), await convert()];
  for (const [index, status] of ["rejected", "pending", "approved", "rejected"].entries())
    await setStatus(id, status, `change ${index}`);
  const whole = list(await world.get(`/conversions/${id}/history`));
  expect(whole).toHaveLength(5);
  const pages: unknown[] = [];
  let cursor: string | null = "";
  for (let page = 0; page < 5 && cursor !== null; page += 1) {
    const at = cursor === "" ? "" : `&cursor=${cursor}`;
    const answer = await world.get(`/conversions/${id}/history?limit=2${at}`);
    pages.push(...list(answer));
    cursor = nextCursor(answer);
    if (cursor === null) continue;
    const wrong = await world.get(`/conversions/${other}/history?limit=2&cursor=${cursor}`);
    expect(refusal(wrong)).toBe("400 invalid_cursor");
  }
  expect(pages).toEqual(whole);
  const wrong = await world.get(`/conversions/${id}/history?limit=201`);
  expect([refusal(wrong), details(wrong).param]).toEqual(["400 invalid_parameter", "limit"]);
});

test("the OpenAPI document has the operation", async () => {
  const { body } = await world.get("/openapi.json");
  expect(body["paths"]).toHaveProperty(["/conversions/{id}/history", "get", "operationId"]);
});
