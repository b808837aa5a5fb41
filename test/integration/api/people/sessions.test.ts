import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../../services/for-this-file.ts";
import { callDescribed } from "../../../system/described-answers.ts";
import { until } from "../../../system/until.ts";
import { ApiWorld } from "../api-world.ts";
import {
  data,
  makeMembership,
  makePerson,
  openAs,
  outcome,
  PASSWORD,
  PersonBrowser,
} from "./person-browser.ts";

const Session = z.object({ data: z.object({ session: z.object({ id: z.string() }) }) });

const world = await forThisFile(ApiWorld.open());
const other = await world.addTenant("second");

test("a session acts with the role of the membership that the request names, and leaves keys alone", async () => {
  const admin = await openAs(world, "ann@first.example", world.tenant, { role: "admin" });
  const me = await admin.get("/me");
  expect(data(me)).toMatchObject({
    key: { id: 0, name: "Name of ann@first.example", role: "admin" },
    workspace: { slug: "first" },
    affiliate: null,
  });
  expect(me.headers.get("x-tracker-membership-version")).toBe("1");
  const offer = await admin.post("/offers", {
    name: "Made in the console",
    advertiser_id: world.tenant.advertiserId,
    destination_url: "https://shop.example/",
    payout: "1",
    revenue: "2",
  });
  expect(offer.status).toBe(201);
  const log = await world.get(`/audit-log?person_id=${admin.personId}&action=offers`);
  expect(log.body["data"]).toMatchObject([
    { key_id: null, person_id: admin.personId, user: "Name of ann@first.example", status: 201 },
  ]);
  const keyed = await world.get("/me");
  expect(keyed.headers.get("x-tracker-membership-version")).toBeNull();
});

test("a person in two workspaces chooses with each request, and no request reaches a third", async () => {
  const personId = await makePerson(world.pool, "two@first.example");
  const browser = new PersonBrowser(world.origin);
  const first = await makeMembership(world.pool, personId, world.tenant, { role: "analyst" });
  const second = await makeMembership(world.pool, personId, other, { role: "partner" });
  await browser.signIn("two@first.example");
  const session = data(await browser.get("/session"));
  expect(session["memberships"]).toMatchObject([
    { id: first, role: "analyst", workspace: { slug: "first" } },
    {
      id: second,
      role: "partner",
      workspace: { slug: "second" },
      affiliate: { id: other.affiliateId },
    },
  ]);
  browser.membership = first;
  expect(data(await browser.get("/me"))).toMatchObject({ workspace: { slug: "first" } });
  expect(outcome(await browser.post("/offers", {}))).toBe("403 read_only_key");
  browser.membership = second;
  expect(data(await browser.get("/me"))).toMatchObject({ workspace: { slug: "second" } });
  expect(outcome(await browser.get("/affiliates"))).toBe("403 forbidden");
  const third = await openAs(world, "third@first.example", world.tenant, { role: "admin" });
  browser.membership = third.membership;
  expect(outcome(await browser.get("/me"))).toBe("403 forbidden");
  browser.membership = 0;
  expect(outcome(await browser.get("/me"))).toBe("403 forbidden");
});

test("operations for people refuse keys, and those of members want a role that may", async () => {
  for (const [method, path] of [
    ["GET", "/session"],
    ["POST", "/sign-in"],
    ["GET", "/members"],
    ["POST", "/invitations"],
  ] as const) {
    const answer = await world.call(method, path, method === "POST" ? { body: {} } : {});
    expect([path, outcome(answer)]).toEqual([path, "403 forbidden"]);
  }
  const nobody = new PersonBrowser(world.origin);
  expect(outcome(await nobody.get("/session"))).toBe("401 sign_in_required");
  expect(outcome(await nobody.get("/offers"))).toBe("401 sign_in_required");
  const partner = await openAs(world, "pam@first.example", world.tenant, { role: "partner" });
  expect(outcome(await partner.call("PATCH", `/members/${partner.membership}`, { body: {} }))).toBe(
    "403 forbidden",
  );
});

test("signing out ends the session everywhere, and the browser is told to forget", async () => {
  const origin = await world.startAnother();
  const browser = await openAs(world, "out@first.example", world.tenant, { role: "admin" });
  const { cookie } = browser;
  expect((await browser.call("GET", "/me", { origin })).status).toBe(200);
  const answer = await browser.post("/sign-out");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("clear-site-data")).toBe('"cache", "storage"');
  expect(browser.cookie).toBe("");
  browser.cookie = cookie;
  expect(outcome(await browser.get("/me"))).toBe("401 sign_in_required");
  await until(
    "the other process knows",
    async () => (await browser.call("GET", "/me", { origin })).status === 401,
    { timeoutMs: 1_500 },
  );
});

test("a person sees and ends own sessions, and a new password ends the others", async () => {
  const one = await openAs(world, "many@first.example", world.tenant, { role: "admin" });
  const two = new PersonBrowser(world.origin);
  await two.signIn("many@first.example");
  const three = new PersonBrowser(world.origin);
  await three.signIn("many@first.example");
  const stranger = await openAs(world, "lone@first.example", world.tenant, { role: "admin" });
  const listed = (await one.get("/sessions")).body;
  expect(listed).toMatchObject({ data: [{ is_current: false }, {}, { is_current: true }] });
  const { id } = Session.parse((await two.get("/session")).body).data.session;
  expect(outcome(await stranger.call("DELETE", `/sessions/${id}`))).toBe("404 not_found");
  expect((await one.call("DELETE", `/sessions/${id}`)).status).toBe(200);
  expect(outcome(await two.get("/session"))).toBe("401 sign_in_required");
  const old = one.cookie;
  const password = "another-lamp-at-the-harbour";
  expect((await one.post("/person/password", { password })).status).toBe(200);
  expect(one.cookie).not.toBe(old);
  expect((await one.get("/session")).status).toBe(200);
  expect(outcome(await three.get("/session"))).toBe("401 sign_in_required");
  expect(outcome(await three.signIn("many@first.example"))).toBe("401 sign_in_required");
  expect((await three.signIn("many@first.example", password)).status).toBe(200);
});

test("an idle or over-long session, an inactive person and an inactive workspace have no access", async () => {
  const browser = await openAs(world, "idle@first.example", world.tenant, { role: "admin" });
  const expectAfter = async (text: string, expected: string): Promise<void> => {
    await world.pool.query({ text, values: [browser.personId] });
    const what = `${text}: ${expected}`;
    await until(what, async () => outcome(await browser.get("/me")) === expected, {
      timeoutMs: 1_500,
    });
  };
  const ended = "401 sign_in_required";
  const seen = "update session set last_seen_at = now()";
  await expectAfter(`${seen} - interval '12 hours 1 second' where person_id = $1`, ended);
  await expectAfter(`${seen} where person_id = $1`, "200");
  await expectAfter("update session set expires_at = now() where person_id = $1", ended);
  const later = "update session set expires_at = now() + interval '1 day' where person_id = $1";
  await expectAfter(later, "200");
  await expectAfter("update person set status = 'inactive' where id = $1", ended);
  await expectAfter("update person set status = 'active' where id = $1", "200");
  const tenant = await world.addTenant("asleep");
  browser.membership = await makeMembership(world.pool, browser.personId, tenant, {
    role: "admin",
  });
  await world.pool.query({
    text: "update workspace set status = 'inactive' where id = $1",
    values: [tenant.workspaceId],
  });
  expect(outcome(await browser.get("/me"))).toBe("403 workspace_inactive");
  expect((await browser.get("/session")).status).toBe(200);
});

test("only the hashes of sessions and passwords are stored (P31)", async () => {
  const browser = await openAs(world, "hash@first.example", world.tenant, { role: "admin" });
  const { rows } = await world.pool.query<{ row: string }>({
    text: "select to_jsonb(s)::text as row from session s union all select to_jsonb(p)::text from person p",
  });
  const [, secret = ""] = browser.cookie.split("=");
  expect(secret).toHaveLength(64);
  expect(rows.length).toBeGreaterThan(2);
  expect(rows.filter(({ row }) => row.includes(secret) || row.includes(PASSWORD))).toEqual([]);
});

test("a made-up cookie costs no statement, and one beside a key is not read", async () => {
  const { tenant, origin } = world;
  const browser = await openAs(world, "both@first.example", tenant, { role: "admin" });
  const both = await callDescribed(`${origin}/api/v1`, {
    method: "GET",
    path: "/me",
    key: tenant.keys.analyst,
    headers: { cookie: browser.cookie, "x-tracker-membership": String(browser.membership) },
  });
  expect(data(both)).toMatchObject({ key: { role: "analyst" } });
  const wrong = await browser.call("GET", "/me", { headers: { authorization: "Bearer nonsense" } });
  expect(outcome(wrong)).toBe("401 invalid_api_key");
  let statements = 0;
  const counting = await world.startAnother({
    db: {
      ...world.pool,
      query: async (statement) => {
        if (statement.name === "find-session") statements += 1;
        return await world.pool.query(statement);
      },
    },
  });
  browser.cookie = `${browser.cookie.slice(0, -1)}${browser.cookie.endsWith("A") ? "B" : "A"}`;
  expect(outcome(await browser.call("GET", "/me", { origin: counting }))).toBe(
    "401 sign_in_required",
  );
  expect(statements).toBe(0);
});

test("MCP reads no cookies", async () => {
  const browser = await openAs(world, "mcp@first.example", world.tenant, { role: "admin" });
  const answer = await fetch(`${world.origin}/mcp`, {
    method: "POST",
    headers: {
      cookie: browser.cookie,
      "x-tracker-membership": String(browser.membership),
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(answer.status).toBe(401);
});
