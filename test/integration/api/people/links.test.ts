import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ApiWorld } from "../api-world.ts";
import { runTracker } from "../run-tracker.ts";
import {
  data,
  forgetAttempts,
  makeMembership,
  makePerson,
  openAs,
  outcome,
  PASSWORD,
  PersonBrowser,
  redeem as redeemAt,
  tokenIn,
} from "./person-browser.ts";

const Links = z.object({ sign_in_links: z.record(z.string(), z.string()) });

const world = await forThisFile(ApiWorld.open());
const other = await world.addTenant("second");

const redeem = async (token: string, more: Readonly<Record<string, string>> = {}) =>
  await redeemAt(world, token, more);

const NEW = { name: "Newcomer", password: PASSWORD };

test("the first admin comes by a link that works once, and no further link is made", async () => {
  const voided = tokenIn(await runTracker(world, "person", "first-link"));
  const token = tokenIn(await runTracker(world, "person", "first-link", "--json"));
  const first = { ...NEW, email: "first@first.example" };
  expect((await redeem(voided, first)).outcome).toBe("404 not_found");
  expect((await redeem(token, { name: "N", password: PASSWORD })).outcome).toBe(
    "400 validation_failed",
  );
  expect((await redeem(token, { ...first, password: "passwordpassword" })).outcome).toBe(
    "400 validation_failed",
  );
  const { browser, answer } = await redeem(token, first);
  expect(data(answer)).toEqual({ state: "full" });
  const session = data(await browser.get("/session"));
  expect(session).toMatchObject({
    person: { email: "first@first.example", is_operator: true },
    memberships: [
      { role: "admin", workspace: { slug: "first" } },
      { role: "admin", workspace: { slug: "second" } },
    ],
  });
  expect((await redeem(token, { ...first, email: "b@first.example" })).outcome).toBe(
    "404 not_found",
  );
  await expect(runTracker(world, "person", "first-link")).rejects.toThrow("an admin already");
  expect(await runTracker(world, "person", "list", "--json")).toContain("first@first.example");
});

test("of 20 people who use one link at the same time, one joins", async () => {
  await forgetAttempts(world);
  const invite = ["person", "invite", "race@first.example", "--workspace", "first"];
  const token = tokenIn(await runTracker(world, ...invite, "--role", "analyst"));
  const used = await Promise.all(Array.from({ length: 20 }, async () => await redeem(token, NEW)));
  const outcomes = used.map((one) => one.outcome).toSorted();
  expect(outcomes.filter((one) => one === "200")).toEqual(["200"]);
  expect(outcomes.filter((one) => one !== "200" && one !== "404 not_found")).toEqual([]);
  const { rows } = await world.pool.query<{ members: number }>({
    text: `select count(*)::integer as members from membership m join person p on p.id = m.person_id
           where p.email = 'race@first.example'`,
  });
  expect(rows).toEqual([{ members: 1 }]);
});

test("an invitation can be looked up, revoked and renewed, ends after 7 days, and lives as a hash", async () => {
  await forgetAttempts(world);
  const admin = await openAs(world, "inviter@first.example", world.tenant, { role: "admin" });
  const grant = {
    email: "guest@first.example",
    role: "partner",
    affiliate_id: world.tenant.affiliateId,
  };
  const made = await admin.post("/invitations", grant);
  expect(made.status).toBe(201);
  const { id } = data(made);
  const token = tokenIn(made.text);
  const { rows } = await world.pool.query<{ row: string; hash: Buffer }>({
    text: "select to_jsonb(l)::text as row, secret_hash as hash from one_time_link l order by id desc limit 1",
  });
  expect(rows[0]?.row).not.toContain(token);
  expect(rows[0]?.hash).toEqual(hash("sha256", token, "buffer"));
  const guest = new PersonBrowser(world.origin);
  expect(data(await guest.post("/one-time-links/look-up", { token }))).toMatchObject({
    kind: "invitation",
    email: "guest@first.example",
    workspace: "first",
    account: "Partner",
    invited_by: "Name of inviter@first.example",
  });
  expect((await admin.get("/invitations")).text).not.toContain("#");
  expect((await admin.call("DELETE", `/invitations/${String(id)}`)).status).toBe(200);
  expect((await redeem(token, NEW)).outcome).toBe("404 not_found");
  const again = tokenIn((await admin.post(`/invitations/${String(id)}/renew`)).text);
  expect((await redeem(token, NEW)).outcome).toBe("404 not_found");
  await world.pool.query({
    text: "update one_time_link set expires_at = now() where id = $1",
    values: [id],
  });
  expect((await redeem(again, NEW)).outcome).toBe("404 not_found");
  const last = tokenIn((await admin.post(`/invitations/${String(id)}/renew`)).text);
  const { browser, answer } = await redeem(last, NEW);
  expect(answer.status).toBe(200);
  expect(data(await browser.get("/session"))["memberships"]).toMatchObject([
    { role: "partner", affiliate: { id: world.tenant.affiliateId } },
  ]);
  expect(outcome(await admin.post(`/invitations/${String(id)}/renew`))).toBe("409 conflict");
});

test("somebody who exists signs in to accept, and nobody else can use his invitation", async () => {
  await forgetAttempts(world);
  const admin = await openAs(world, "host@first.example", world.tenant, { role: "admin" });
  const known = await openAs(world, "known@second.example", other, { role: "analyst" });
  const made = await admin.post("/invitations", { email: "KNOWN@second.example", role: "analyst" });
  const token = tokenIn(made.text);
  expect((await redeem(token, NEW)).outcome).toBe("409 conflict");
  const wrong = await admin.post("/one-time-links/redeem", { token });
  expect(outcome(wrong)).toBe("409 conflict");
  expect((await known.post("/one-time-links/redeem", { token })).status).toBe(200);
  expect(data(await known.get("/session"))["memberships"]).toHaveLength(2);
  expect(outcome(await known.post("/one-time-links/redeem", { token }))).toBe("404 not_found");
});

test("nobody grants more than his own rights, and people of an account only to that account", async () => {
  await forgetAttempts(world);
  const { tenant } = world;
  const rival = await world.insert("affiliate", {
    workspace_id: tenant.workspaceId,
    currency: "USD",
    code: "RIVAL1",
    name: "Rival",
    approved_at: "now",
  });
  const manager = await openAs(world, "manager@first.example", tenant, {
    role: "admin",
    permissions: ["affiliates.read", "affiliates.write", "offers.read"],
  });
  const partner = await openAs(world, "boss@first.example", tenant, { role: "partner" });
  const analyst = await openAs(world, "reader@first.example", tenant, { role: "analyst" });
  const ofPartner = { role: "partner", affiliate_id: tenant.affiliateId };
  const cases: readonly [PersonBrowser, Record<string, unknown>, string][] = [
    [manager, { role: "admin" }, "403 forbidden"],
    [manager, { role: "admin", permissions: ["offers.write"] }, "403 forbidden"],
    [manager, { role: "analyst" }, "403 forbidden"],
    [manager, { role: "analyst", permissions: ["offers.read"] }, "201"],
    [manager, { role: "admin", permissions: ["affiliates.write"] }, "201"],
    [manager, ofPartner, "201"],
    [manager, { role: "advertiser", advertiser_id: tenant.advertiserId }, "403 forbidden"],
    [partner, ofPartner, "201"],
    [partner, { role: "partner", affiliate_id: rival }, "403 forbidden"],
    [partner, { role: "admin" }, "403 forbidden"],
    [partner, { role: "analyst" }, "403 forbidden"],
    [analyst, ofPartner, "403 read_only_key"],
    [manager, { role: "partner", affiliate_id: other.affiliateId }, "400 validation_failed"],
    [manager, { role: "partner" }, "400 validation_failed"],
  ];
  for (const [browser, grant, expected] of cases) {
    const answer = await browser.post("/invitations", { email: "x@first.example", ...grant });
    expect([grant, outcome(answer)]).toEqual([grant, expected]);
  }
  const seen = await partner.get("/invitations");
  expect(seen.text).toContain('"role":"partner"');
  expect(seen.text).not.toContain('"role":"admin"');
});

test("a reset ends all sessions, keeps the second factor and is for an hour", async () => {
  await forgetAttempts(world);
  const browser = await openAs(world, "lost@first.example", world.tenant, { role: "analyst" });
  const earlier = tokenIn(await runTracker(world, "person", "reset-link", "LOST@first.example"));
  const token = tokenIn(await runTracker(world, "person", "reset-link", "lost@first.example"));
  const password = "a-new-lamp-for-the-tower";
  expect((await redeem(earlier, { password })).outcome).toBe("404 not_found");
  expect((await redeem(token, { password })).outcome).toBe("200");
  expect(outcome(await browser.get("/session"))).toBe("401 sign_in_required");
  expect(outcome(await browser.signIn("lost@first.example"))).toBe("401 sign_in_required");
  expect((await browser.signIn("lost@first.example", password)).status).toBe(200);
  await expect(runTracker(world, "person", "reset-link", "nobody@first.example")).rejects.toThrow(
    "Nobody signs in",
  );
});

test("an admin resets only people all of whose workspaces he administers", async () => {
  await forgetAttempts(world);
  const admin = await openAs(world, "resetter@first.example", world.tenant, { role: "admin" });
  const linkFor = async (email: string, tenants: readonly (typeof other)[]): Promise<string> => {
    const personId = await makePerson(world.pool, email);
    const ids = [];
    for (const tenant of tenants)
      ids.push(await makeMembership(world.pool, personId, tenant, { role: "analyst" }));
    return outcome(await admin.post(`/members/${ids[0] ?? 0}/reset-link`));
  };
  expect(await linkFor("only@first.example", [world.tenant])).toBe("200");
  expect(await linkFor("both@first.example", [world.tenant, other])).toBe("403 forbidden");
  expect(await linkFor("elsewhere@second.example", [other])).toBe("404 not_found");
  await makeMembership(world.pool, admin.personId, other, { role: "admin" });
  expect(await linkFor("both2@first.example", [world.tenant, other])).toBe("200");
  const operator = await makePerson(world.pool, "operator@first.example", true);
  const membership = await makeMembership(world.pool, operator, world.tenant, { role: "analyst" });
  expect(outcome(await admin.post(`/members/${membership}/reset-link`))).toBe("403 forbidden");
});

test("the demo has a link for a person of each role, and needs no first one once its admin has joined", async () => {
  await forgetAttempts(world);
  await runTracker(world, "demo", "--json");
  const printed = Links.parse(JSON.parse(await runTracker(world, "person", "demo-links")));
  expect(Object.keys(printed.sign_in_links)).toEqual(["admin", "analyst", "partner", "advertiser"]);
  for (const [role, link] of Object.entries(printed.sign_in_links)) {
    const { browser, answer } = await redeem(tokenIn(link), NEW);
    expect([role, answer.status]).toEqual([role, 200]);
    expect(data(await browser.get("/session"))["memberships"]).toMatchObject([
      { role, workspace: { slug: "demo" } },
    ]);
  }
  expect(await runTracker(world, "person", "first-link", "--if-needed", "--json")).toBe("");
});
