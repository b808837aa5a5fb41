import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ApiWorld } from "../api-world.ts";
import { codeAt } from "./authenticator-code.ts";
import { data, openAs, outcome, PASSWORD, PersonBrowser } from "./person-browser.ts";
import { setUpCodes } from "./person-factors.ts";

const world = await forThisFile(ApiWorld.open());
const Fresh = z.object({ data: z.object({ session: z.object({ is_fresh: z.boolean() }) }) });
const Codes = z.object({ data: z.object({ recovery_codes: z.array(z.string()).length(10) }) });

/** A signed-in person who has just set up codes. The code of the step before the current one is used up. */
async function withTotp(email: string) {
  const browser = await openAs(world, email, world.tenant, { role: "admin" });
  const { secret, confirmed } = await setUpCodes(browser);
  const codes = Codes.parse(confirmed.body).data.recovery_codes;
  return { browser, secret, codes };
}

test("with codes set up, the password alone opens nothing, and a code counts once", async () => {
  const { secret } = await withTotp("totp@first.example");
  const browser = new PersonBrowser(world.origin);
  expect(data(await browser.signIn("totp@first.example"))).toEqual({ state: "second_factor" });
  const half = browser.cookie;
  for (const path of ["/session", "/me", "/sessions", "/members"])
    expect([path, outcome(await browser.get(path))]).toEqual([path, "403 second_factor_required"]);
  expect(outcome(await browser.post("/sign-in/prove", { password: PASSWORD }))).toBe(
    "403 second_factor_required",
  );
  const wrong = await browser.post("/sign-in/second-factor", { code: "000000" });
  expect(outcome(wrong)).toBe("403 forbidden");
  const code = codeAt(secret);
  expect((await browser.post("/sign-in/second-factor", { code })).status).toBe(200);
  expect(browser.cookie).not.toBe(half);
  expect((await browser.get("/session")).status).toBe(200);
  const again = new PersonBrowser(world.origin);
  await again.signIn("totp@first.example");
  expect(outcome(await again.post("/sign-in/second-factor", { code }))).toBe("403 forbidden");
  again.cookie = half;
  expect(outcome(await again.get("/session"))).toBe("401 sign_in_required");
});

test("of four requests with one code at the same time, one counts", async () => {
  const { secret } = await withTotp("once@first.example");
  const browsers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const browser = new PersonBrowser(world.origin);
      await browser.signIn("once@first.example");
      return browser;
    }),
  );
  const code = codeAt(secret);
  const answers = await Promise.all(
    browsers.map(async (one) => outcome(await one.post("/sign-in/second-factor", { code }))),
  );
  expect(answers.toSorted()).toEqual(["200", ...Array.from({ length: 3 }, () => "403 forbidden")]);
});

test("a recovery code works once, in any spelling, and new codes void the old ones", async () => {
  const { browser, codes } = await withTotp("recovery@first.example");
  const [code = "", second = ""] = codes;
  const enter = async (given: string): Promise<string> => {
    const another = new PersonBrowser(world.origin);
    await another.signIn("recovery@first.example");
    return outcome(await another.post("/sign-in/second-factor", { code: given }));
  };
  expect(await enter(code.toUpperCase().replaceAll("-", " "))).toBe("200");
  expect(await enter(code)).toBe("403 forbidden");
  const fresh = Codes.parse((await browser.post("/person/recovery-codes")).body);
  expect(await enter(second)).toBe("403 forbidden");
  expect(await enter(fresh.data.recovery_codes[0] ?? "")).toBe("200");
});

test("the secret of codes is sealed: neither it nor a recovery code stands in the database", async () => {
  const { secret, codes } = await withTotp("sealed@first.example");
  const { rows } = await world.pool.query<{ row: string }>({
    text: "select to_jsonb(t)::text as row from totp t union all select to_jsonb(r)::text from recovery_code r",
  });
  const hidden = [secret.toString("hex"), ...codes, ...codes.map((one) => one.replaceAll("-", ""))];
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter(({ row }) => hidden.some((one) => row.includes(one)))).toEqual([]);
});

test("factors, members and keys want a proof of the last 10 minutes, by password or code", async () => {
  const { browser, secret } = await withTotp("stale@first.example");
  const age = async (): Promise<void> => {
    await world.pool.query({
      text: "update session set proved_at = now() - interval '601 seconds' where person_id = $1",
      values: [browser.personId],
    });
    // The session is remembered for a second.
    await expect
      .poll(async () => Fresh.parse((await browser.get("/session")).body).data.session.is_fresh)
      .toBe(false);
  };
  await age();
  for (const [method, path, body] of [
    ["POST", "/keys", { role: "analyst" }],
    ["POST", "/workspace/rotate-postback-token", undefined],
    ["POST", "/person/password", { password: PASSWORD }],
    ["DELETE", "/person/totp", undefined],
    ["POST", "/invitations", { email: "x@first.example", role: "admin" }],
    ["PATCH", `/members/${browser.membership}`, { status: "active" }],
    ["PATCH", `/affiliates/${world.tenant.affiliateId}`, { payment_details: { wire: "1" } }],
  ] as const) {
    const answer = await browser.call(method, path, { body });
    expect([path, outcome(answer)]).toEqual([path, "403 fresh_sign_in_required"]);
  }
  const notes = { notes: "no proof needed" };
  const path = `/affiliates/${world.tenant.affiliateId}`;
  expect((await browser.call("PATCH", path, { body: notes })).status).toBe(200);
  expect(outcome(await browser.post("/sign-in/prove", { password: "wrong" }))).toBe(
    "403 forbidden",
  );
  expect((await browser.post("/sign-in/prove", { password: PASSWORD })).status).toBe(200);
  expect((await browser.post("/keys", { role: "analyst" })).status).toBe(201);
  await age();
  expect((await browser.post("/sign-in/prove", { code: codeAt(secret) })).status).toBe(200);
  expect((await browser.call("DELETE", "/person/totp")).status).toBe(200);
  expect(data(await new PersonBrowser(world.origin).signIn("stale@first.example"))).toEqual({
    state: "full",
  });
});

test("without CONSOLE_SECRET nobody sets up codes", async () => {
  const browser = await openAs(world, "unsealed@first.example", world.tenant, { role: "admin" });
  const origin = await world.startAnother({ consoleSecret: undefined });
  expect(outcome(await browser.call("POST", "/person/totp", { origin }))).toBe("503 unavailable");
});
