import { expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { IdentityProvider } from "../../../system/identity-provider.ts";
import { API_URL, ApiWorld } from "../api-world.ts";
import { runTracker } from "../run-tracker.ts";
import { data, makePerson, openAs, outcome, PersonBrowser } from "./person-browser.ts";
import { atProvider as signInAtProvider } from "./person-factors.ts";

const provider = await forThisFile(IdentityProvider.open(`${API_URL}/console/sign-in/oidc`));
const { issuer, clientId, clientSecret } = provider;
const oidc = { issuer, clientId, clientSecret, name: "Works" };
const world = await forThisFile(ApiWorld.open({ oidc }));
const empty = await forThisFile(ApiWorld.open({ oidc }));
const admin = await openAs(world, "admin@first.example", world.tenant, { role: "admin" });
const REFUSED = "401 sign_in_required";

function account(subject: string, email: string, verified: boolean | string = true): string {
  provider.accounts.set(subject, { email, email_verified: verified, name: `Name of ${subject}` });
  return subject;
}

async function invite(email: string, role: "admin" | "analyst" = "analyst"): Promise<string> {
  const made = data(await admin.post("/invitations", { email, role }));
  return String(made["link"]).split("#")[1] ?? "";
}

const atProvider = async (browser: PersonBrowser, path: string, subject: string) =>
  await signInAtProvider(provider, browser, path, subject);

/** Somebody who signs in with the provider, in a browser of its own. */
async function signInAs(subject: string, more: Readonly<Record<string, string>> = {}) {
  await world.pool.query({ text: "delete from rate_window where holder like 'sign-in:%'" });
  const browser = new PersonBrowser(world.origin);
  const body = { ...(await atProvider(browser, "/sign-in/oidc", subject)), ...more };
  const answer = await browser.post("/sign-in/oidc", body);
  return { browser, body, outcome: outcome(answer), answer };
}

test("an invited person comes with the verified e-mail of the provider, and later with its subject only", async () => {
  await invite("Ann@First.example");
  const first = await signInAs(account("ann", "ann@first.example"));
  expect(data(first.answer)).toEqual({ state: "full" });
  expect(data(await first.browser.get("/session"))).toMatchObject({
    person: {
      email: "ann@first.example",
      name: "Name of ann",
      has_oidc: true,
      has_password: false,
    },
    memberships: [{ role: "analyst", workspace: { slug: "first" } }],
  });
  account("ann", "moved@elsewhere.example", false);
  const second = await signInAs("ann");
  expect(second.outcome).toBe("200");
  const { person } = data(await second.browser.get("/session"));
  expect(person).toMatchObject({ email: "ann@first.example" });
  const replay = new PersonBrowser(world.origin);
  expect(outcome(await replay.post("/sign-in/oidc", first.body))).toBe(REFUSED);
});

test("nobody comes uninvited, with an unverified e-mail, or with that of another person", async () => {
  expect((await signInAs(account("stranger", "stranger@first.example"))).outcome).toBe(REFUSED);
  await invite("bob@first.example");
  expect((await signInAs(account("bob", "bob@first.example", false))).outcome).toBe(REFUSED);
  expect((await signInAs(account("bob", "bob@first.example", "true"))).outcome).toBe("200");
  await makePerson(world.pool, "carl@first.example");
  await invite("carl@first.example");
  expect((await signInAs(account("carl", "carl@first.example"))).outcome).toBe("409 conflict");
});

test("nobody becomes an admin by an e-mail: the link itself is needed", async () => {
  const token = await invite("dora@first.example", "admin");
  expect((await signInAs(account("dora", "dora@first.example"))).outcome).toBe(REFUSED);
  const other = await signInAs(account("eve", "eve@first.example"), { token });
  expect(other.outcome).toBe("409 conflict");
  const { browser, outcome: came } = await signInAs("dora", { token });
  expect(came).toBe("200");
  expect(data(await browser.get("/session"))).toMatchObject({ memberships: [{ role: "admin" }] });
  expect((await signInAs("dora", { token })).outcome).toBe("404 not_found");
});

test("somebody with a password connects the provider, and cannot lose the only way to sign in", async () => {
  const browser = await openAs(world, "finn@first.example", world.tenant, { role: "analyst" });
  account("finn", "finn@private.example", false);
  const body = await atProvider(browser, "/person/oidc", "finn");
  expect(outcome(await admin.post("/person/oidc", body))).toBe("409 conflict");
  const again = await atProvider(browser, "/person/oidc", "finn");
  expect(data(await browser.post("/person/oidc", again))).toEqual({ done: true });
  const { browser: elsewhere, outcome: came } = await signInAs("finn");
  expect(came).toBe("200");
  expect(data(await elsewhere.get("/session"))).toMatchObject({
    person: { email: "finn@first.example" },
  });
  const taken = await atProvider(admin, "/person/oidc", "finn");
  expect(outcome(await admin.post("/person/oidc", taken))).toBe("409 conflict");
  expect(outcome(await browser.call("DELETE", "/person/oidc"))).toBe("200");
  expect((await signInAs("finn")).outcome).toBe(REFUSED);
  await invite("gus@first.example");
  const { browser: only } = await signInAs(account("gus", "gus@first.example"));
  expect(outcome(await only.call("DELETE", "/person/oidc"))).toBe("409 conflict");
});

test("an answer of the provider counts only for the sign-in that was begun here", async () => {
  await invite("hal@first.example");
  account("hal", "hal@first.example");
  const browser = new PersonBrowser(world.origin);
  const [mine, theirs] = [
    await atProvider(browser, "/sign-in/oidc", "hal"),
    await atProvider(browser, "/sign-in/oidc", "hal"),
  ];
  const mixed = { flow_id: mine.flow_id, query: theirs.query };
  expect(outcome(await browser.post("/sign-in/oidc", mixed))).toBe(REFUSED);
  const denied = { flow_id: theirs.flow_id, query: "error=access_denied&state=x" };
  expect(outcome(await browser.post("/sign-in/oidc", denied))).toBe(REFUSED);
});

test("the audit log names each of these events, without a secret", async () => {
  const { rows } = await world.pool.query<{ action: string }>({
    text: "select distinct action from audit_log where action like 'person:%' order by 1",
  });
  const actions = rows.map(({ action }) => action);
  expect(actions).toEqual(
    expect.arrayContaining(["person:joined", "person:oidc-connected", "person:oidc-removed"]),
  );
});

test("a provider that does not answer is an outage, and without one the console does not offer it", async () => {
  const away = await world.startAnother({ oidc: { ...oidc, issuer: "http://127.0.0.1:9" } });
  const browser = new PersonBrowser(world.origin);
  const lost = await browser.call("POST", "/sign-in/oidc/options", { origin: away });
  expect(outcome(lost)).toBe("503 unavailable");
  const without = await world.startAnother({});
  const none = await browser.call("POST", "/sign-in/oidc/options", { origin: without });
  expect(outcome(none)).toBe("409 conflict");
  expect(data(await browser.call("GET", "/sign-in/options", { origin: without }))).toMatchObject({
    oidc: null,
  });
  expect(data(await browser.get("/sign-in/options"))).toMatchObject({ oidc: { name: "Works" } });
});

test("the first admin may come with the provider, by the printed link", async () => {
  const printed = await runTracker(empty, "person", "first-link");
  const token = /#([\w-]{43})/.exec(printed)?.[1] ?? "";
  const browser = new PersonBrowser(empty.origin);
  account("first", "first@first.example");
  const body = { ...(await atProvider(browser, "/sign-in/oidc", "first")), token };
  expect(outcome(await browser.post("/sign-in/oidc", body))).toBe("200");
  expect(data(await browser.get("/session"))).toMatchObject({
    person: { is_operator: true },
    memberships: [{ role: "admin" }],
  });
});
