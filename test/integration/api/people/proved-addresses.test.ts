import { beforeEach, expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";
import { list } from "../api-world.ts";
import { runTracker } from "../run-tracker.ts";
import { ALONE, CHANGED, MailedWorld, NEW, OWNER, SHUT_OUT } from "./mailed-world.ts";
import {
  data,
  enterAs,
  forgetAttempts,
  outcome,
  ownPerson,
  PersonBrowser,
  tokenIn,
} from "./person-browser.ts";
import { addPasskey, atProvider, signInWith } from "./person-factors.ts";

const scene = await forThisFile(MailedWorld.open());
const { api: world, other, inviter, stranger } = scene;

const REFUSED = "401 sign_in_required";
const ENDED = "404 not_found";

beforeEach(async () => {
  await forgetAttempts(world);
});

test("the owner who resets by mail has an account alone that somebody made in advance (G211, G212)", async () => {
  const email = scene.address("owner");
  const impostor = await scene.madeInAdvance(email);
  const { answer, browser } = await scene.redeem(await scene.resetByMail(email), OWNER);
  expect(data(answer)).toEqual({ state: "full" });
  expect(await ownPerson(browser)).toMatchObject(ALONE);
  expect(await scene.triedBy(impostor, email)).toEqual(SHUT_OUT);
  expect(await scene.mailTo(email, CHANGED)).toContain("a link that was mailed to this address");
});

test("an e-mail is proved by the link that was mailed, not by the one that its maker was shown (G211)", async () => {
  const [first, second, third] = [
    scene.address("shown"),
    scene.address("mailed"),
    scene.address("renewed"),
  ];
  const { shown, mailed: unused } = await scene.invite(inviter, first);
  const byShown = await scene.redeem(shown, NEW);
  expect(await ownPerson(byShown.browser)).toMatchObject({ email_proved: false });
  expect((await scene.redeem(unused, NEW)).outcome).toBe(ENDED);
  const { rows } = await world.pool.query<{ row: string }>({
    text: "select to_jsonb(l)::text as row from one_time_link l where email = $1",
    values: [first],
  });
  expect(rows.filter(({ row }) => row.includes(shown) || row.includes(unused))).toEqual([]);
  const { shown: late, mailed } = await scene.invite(inviter, second);
  const byMail = await scene.redeem(mailed, NEW);
  expect(await ownPerson(byMail.browser)).toMatchObject({ email_proved: true });
  expect((await scene.redeem(late, NEW)).outcome).toBe(ENDED);
  const before = await scene.invite(inviter, third);
  const renewed = await inviter.post(`/invitations/${before.id}/renew`);
  await until(
    "the second mail is there",
    () => scene.mails.mails.filter((mail) => mail.includes(`To: ${third}`)).length === 2,
  );
  const again = tokenIn(await scene.mailTo(third, "Open this link to join"));
  expect(again).not.toBe(tokenIn(renewed.text));
  expect((await scene.redeem(before.mailed, NEW)).outcome).toBe(ENDED);
  expect(await ownPerson((await scene.redeem(again, NEW)).browser)).toMatchObject({
    email_proved: true,
  });
  const members = JSON.stringify((await inviter.get("/members")).body);
  expect(members).toMatch(new RegExp(`"${first}"[^}]*"email_proved":false`));
  expect(members).toMatch(new RegExp(`"${second}"[^}]*"email_proved":true`));
});

test("of the two links of one invitation, used at the same time, one counts (G211)", async () => {
  const { shown, mailed } = await scene.invite(inviter, scene.address("both"));
  const used = await Promise.all(
    [shown, mailed, shown, mailed].map(async (token) => (await scene.redeem(token, NEW)).outcome),
  );
  expect(used.toSorted()).toEqual(["200", ENDED, ENDED, ENDED]);
});

test("an invitation by mail replaces an account whose e-mail is unproved, also in a session of it (G211)", async () => {
  for (const inSession of [false, true]) {
    const email = scene.address("owner");
    const impostor = await scene.madeInAdvance(email);
    const { mailed } = await scene.invite(stranger, email);
    const browser = inSession ? impostor.browser : new PersonBrowser(world.origin);
    const bare = await browser.post("/one-time-links/redeem", { token: mailed });
    expect(outcome(bare)).toBe("400 validation_failed");
    const owner = new PersonBrowser(world.origin);
    const used = await owner.post("/one-time-links/redeem", { token: mailed, ...OWNER });
    expect(data(used)).toEqual({ state: "full" });
    expect(await ownPerson(owner)).toMatchObject({ ...ALONE, name: "Owner" });
    expect(data(await owner.get("/session"))["memberships"]).toHaveLength(2);
    expect(await scene.triedBy(impostor, email)).toEqual(SHUT_OUT);
    expect(await scene.mailTo(email, CHANGED)).toContain("an invitation");
  }
});

test("an unproved account gets no rights elsewhere by a link that was handed over (G211)", async () => {
  const email = scene.address("owner");
  const impostor = await scene.madeInAdvance(email);
  const { shown } = await scene.invite(stranger, email, { role: "admin" });
  for (const browser of [impostor.browser, new PersonBrowser(world.origin)]) {
    const body = { token: shown, ...OWNER };
    const refused = await browser.post("/one-time-links/redeem", body);
    expect(outcome(refused)).toBe("409 conflict");
    expect(refused.text).toContain("not proved");
  }
  expect((await signInWith(world, impostor.authenticator)).answer.status).toBe(200);
  const cli = ["person", "invite", email, "--workspace", "second", "--role", "analyst"];
  const token = tokenIn(await runTracker(world, ...cli));
  expect((await scene.redeem(token, OWNER)).outcome).toBe("200");
  expect(await scene.triedBy(impostor, email)).toEqual(SHUT_OUT);
});

test("an invitation of somebody who may reset a person replaces the account, still unproved (G211)", async () => {
  const email = scene.address("colleague");
  const partner = { role: "partner", affiliate_id: world.tenant.affiliateId };
  const impostor = await scene.madeInAdvance(email, { role: "admin" });
  const { shown } = await scene.invite(inviter, email, partner);
  const { browser, outcome: came } = await scene.redeem(shown, OWNER);
  expect(came).toBe("200");
  expect(await ownPerson(browser)).toMatchObject({ ...ALONE, email_proved: false });
  expect(await scene.triedBy(impostor, email)).toEqual(SHUT_OUT);
  const narrow = { role: "admin", permissions: ["affiliates.read", "affiliates.write"] } as const;
  const manager = await enterAs(world, scene.address("manager"), world.tenant, narrow);
  const { shown: weak } = await scene.invite(manager, email, partner);
  expect((await scene.redeem(weak, OWNER)).outcome).toBe("409 conflict");
});

test("a removed person without proof joins anew by a link, alone, and stays unproved (G211)", async () => {
  const email = scene.address("again");
  const impostor = await scene.madeInAdvance(email, { role: "admin" });
  const { membership } = impostor.browser;
  expect((await inviter.call("DELETE", `/members/${membership}`)).status).toBe(200);
  const { shown } = await scene.invite(stranger, email);
  const { browser } = await scene.redeem(shown, OWNER);
  expect(await ownPerson(browser)).toMatchObject({ ...ALONE, email_proved: false });
  expect(await scene.triedBy(impostor, email)).toEqual(SHUT_OUT);
});

test("a proof ends with the address that it was for (G211)", async () => {
  const person = await enterAs(world, scene.address("proved"), world.tenant, { role: "analyst" });
  expect(await ownPerson(person)).toMatchObject({ email_proved: true });
  await world.pool.query({
    text: "update person set email = $2 where id = $1",
    values: [person.personId, scene.address("moved")],
  });
  expect(await ownPerson(person)).toMatchObject({ email_proved: false });
});

test("who comes invited with the verified e-mail of the provider replaces an unproved account (G211)", async () => {
  const email = scene.address("owner");
  const impostor = await scene.madeInAdvance(email);
  const subject = `owner of ${email}`;
  scene.provider.accounts.set(subject, { email, email_verified: true, name: "Owner" });
  expect((await scene.signInAt(subject)).outcome).toBe(REFUSED);
  await scene.invite(stranger, email.toUpperCase());
  // Sent twice: the second one grants nothing more.
  await scene.invite(stranger, email);
  const { browser, outcome: came } = await scene.signInAt(subject);
  expect(came).toBe("200");
  expect(await ownPerson(browser)).toMatchObject({ ...ALONE, has_oidc: true, has_password: false });
  expect(await scene.triedBy(impostor, email)).toEqual(SHUT_OUT);
  expect(await scene.mailTo(email, CHANGED)).toContain("the identity provider");
  expect((await scene.signInAt(subject)).outcome).toBe("200");
});

test("a connected provider proves an unproved e-mail only if it has verified just this one (G211)", async () => {
  const email = scene.address("owner");
  const { shown } = await scene.invite(inviter, email);
  const { browser } = await scene.redeem(shown, NEW);
  const { authenticator } = await addPasskey(browser);
  const subject = `connected ${email}`;
  scene.provider.accounts.set(subject, { email, email_verified: false, name: "Owner" });
  const connected = await atProvider(scene.provider, browser, "/person/oidc", subject);
  expect((await browser.post("/person/oidc", connected)).status).toBe(200);
  const unverified = await scene.signInAt(subject);
  expect(await ownPerson(unverified.browser)).toMatchObject({ email_proved: false, passkeys: 1 });
  scene.provider.accounts.set(subject, { email, email_verified: true, name: "Owner" });
  const verified = await scene.signInAt(subject);
  expect(await ownPerson(verified.browser)).toMatchObject({ ...ALONE, has_oidc: true });
  expect(outcome(await browser.get("/session"))).toBe(REFUSED);
  expect(outcome((await signInWith(world, authenticator)).answer)).toBe(REFUSED);
});

test("the provider's sign-in leaves out invitations that have ended with their maker (G209)", async () => {
  const maker = await enterAs(world, scene.address("maker"), world.tenant, { role: "admin" });
  const email = scene.address("late");
  await scene.invite(maker, email);
  const { rows } = await world.pool.query<{ id: number }>({
    text: "delete from membership where id = $1 returning id",
    values: [maker.membership],
  });
  expect(rows).toHaveLength(1);
  scene.provider.accounts.set(email, { email, email_verified: true, name: "Late" });
  expect((await scene.signInAt(email)).outcome).toBe(REFUSED);
  await scene.invite(inviter, email);
  const { browser } = await scene.signInAt(email);
  expect(data(await browser.get("/session"))["memberships"]).toHaveLength(1);
});

test("a sign-up with an unproved e-mail is answered alike, and its invitation replaces the account (G211)", async () => {
  const email = scene.address("partner");
  const impostor = await scene.madeInAdvance(email);
  await world.patch("/workspace", { sign_up: "review" }, other.keys.admin);
  const visitor = new PersonBrowser(world.origin);
  const path = "/signup/second/partner";
  const known = await visitor.post(path, { name: "Known", email });
  const unknown = await visitor.post(path, { name: "New", email: scene.address("new") });
  const shapeOf = (answer: typeof known) => [answer.status, Object.keys(data(answer))];
  expect(shapeOf(known)).toEqual(shapeOf(unknown));
  const query = `/affiliates?q=${encodeURIComponent(email)}`;
  const [partner] = list(await world.get(query, other.keys.admin));
  const grant = { role: "partner", affiliate_id: partner?.id };
  const { mailed } = await scene.invite(stranger, email, grant);
  expect((await scene.redeem(mailed, OWNER)).outcome).toBe("200");
  expect(await scene.triedBy(impostor, email)).toEqual(SHUT_OUT);
});

test("a handed reset and the use of an invitation elsewhere at once do not both count (G211)", async () => {
  const email = scene.address("racer");
  const person = await enterAs(world, email, world.tenant, { role: "analyst" });
  const reset = await inviter.post(`/members/${person.membership}/reset-link`);
  const { shown } = await scene.invite(stranger, email, { role: "admin" });
  const [byThief, byOwner] = await Promise.all([
    scene.redeem(tokenIn(reset.text), { password: "a-password-of-the-thief" }),
    person.post("/one-time-links/redeem", { token: shown }),
  ]);
  const outcomes = [byThief.outcome, outcome(byOwner)];
  expect([
    ["200", REFUSED],
    ["200", "409 conflict"],
    [ENDED, "200"],
  ]).toContainEqual(outcomes);
});

test("an inactive person's account is not replaced by a link, and its owner is told so (G211)", async () => {
  const email = scene.address("asleep");
  const impostor = await scene.madeInAdvance(email);
  await world.pool.query({
    text: "update person set status = 'inactive' where email = $1",
    values: [email],
  });
  const { mailed } = await scene.invite(stranger, email);
  const refused = await scene.redeem(mailed, OWNER);
  expect(refused.outcome).toBe("403 forbidden");
  expect(refused.answer.text).toContain("not active");
  expect(outcome((await signInWith(world, impostor.authenticator)).answer)).toBe(REFUSED);
});

test("a letter that becomes another one in lower case proves nothing of the other's e-mail (G211)", async () => {
  const [email, folds] = ["kim@first.example", "\u212Aim@first.example"];
  const impostor = await scene.redeem((await scene.invite(inviter, email)).shown, NEW);
  expect(await ownPerson(impostor.browser)).toMatchObject({ email, email_proved: false });
  const cli = ["person", "invite", folds, "--workspace", "second", "--role", "analyst"];
  const token = tokenIn(await runTracker(world, ...cli));
  scene.provider.accounts.set("kelvin", { email: folds, email_verified: true, name: "Kelvin" });
  const outcomes = [
    (await scene.redeem(token, OWNER)).outcome,
    (await scene.signInAt("kelvin", { token })).outcome,
    (await scene.signInAt("kelvin")).outcome,
  ];
  expect(outcomes).toEqual(["409 conflict", "409 conflict", "409 conflict"]);
  expect(await ownPerson(impostor.browser)).toMatchObject({ email, email_proved: false });
  await scene.invite(inviter, "kurt@first.example");
  const kurt = { email: "\u212Aurt@first.example", email_verified: true, name: "Kurt" };
  scene.provider.accounts.set("kurt", kurt);
  expect((await scene.signInAt("kurt")).outcome).toBe(REFUSED);
});
