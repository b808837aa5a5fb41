import { beforeEach, expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { untilWaiting, whileUncommitted } from "../locked-table.ts";
import { runTracker } from "../run-tracker.ts";
import { codeAt } from "./authenticator-code.ts";
import { ALONE, CHANGED, MailedWorld, OWNER, SHUT_OUT } from "./mailed-world.ts";
import {
  data,
  enterAs,
  forgetAttempts,
  makeMembership,
  outcome,
  ownPerson,
  PersonBrowser,
  tokenIn,
} from "./person-browser.ts";
import {
  addPasskey,
  askForPasskey,
  atProvider,
  beginCodes,
  SITE,
  setUpCodes,
  signInWith,
} from "./person-factors.ts";
import { SoftwareAuthenticator } from "./software-authenticator.ts";

const scene = await forThisFile(MailedWorld.open());
const { api: world, other, inviter } = scene;

const REFUSED = "401 sign_in_required";
const ENDED = "404 not_found";

beforeEach(async () => {
  await forgetAttempts(world);
});

test("a reset by a handed link ends other ways in but codes, unproves the e-mail, and is mailed (G212)", async () => {
  const email = scene.address("colleague");
  const person = await enterAs(world, email, world.tenant, { role: "analyst" });
  const { authenticator } = await addPasskey(person);
  const { secret } = await setUpCodes(person);
  const made = await inviter.post(`/members/${person.membership}/reset-link`);
  const { browser, answer } = await scene.redeem(tokenIn(made.text), OWNER);
  expect(data(answer)).toEqual({ state: "second_factor" });
  const given = await browser.post("/sign-in/second-factor", { code: codeAt(secret) });
  expect(given.status).toBe(200);
  expect(await ownPerson(browser)).toMatchObject({
    email_proved: false,
    has_totp: true,
    passkeys: 0,
  });
  expect(outcome((await signInWith(world, authenticator)).answer)).toBe(REFUSED);
  const mail = await scene.mailTo(email, CHANGED);
  expect(mail).toContain("Name of inviter@first.example");
  expect(mail).toContain("still asked for");
});

test("a reset by the link that an admin had mailed ends codes as well, and proves the e-mail (G212)", async () => {
  const email = scene.address("colleague");
  const person = await enterAs(world, email, world.tenant, { role: "analyst" });
  await addPasskey(person);
  await setUpCodes(person);
  const made = await inviter.post(`/members/${person.membership}/reset-link`);
  const mailed = tokenIn(await scene.mailTo(email, "choose a new password"));
  expect(mailed).not.toBe(tokenIn(made.text));
  const { browser, answer } = await scene.redeem(mailed, OWNER);
  expect(data(answer)).toEqual({ state: "full" });
  expect(await ownPerson(browser)).toMatchObject(ALONE);
});

test("a reset by the command line proves the e-mail, and ends codes only of an unproved account (G212)", async () => {
  const [known, unknown] = [scene.address("known"), scene.address("unknown")];
  const person = await enterAs(world, known, world.tenant, { role: "analyst" });
  await setUpCodes(person);
  const impostor = await scene.madeInAdvance(unknown);
  const states = [];
  for (const email of [known, unknown]) {
    const token = tokenIn(await runTracker(world, "person", "reset-link", email));
    states.push(data((await scene.redeem(token, OWNER)).answer)["state"]);
  }
  expect(states).toEqual(["second_factor", "full"]);
  expect(await scene.triedBy(impostor, unknown)).toEqual(SHUT_OUT);
  const { rows } = await world.pool.query<{ proved: string | null }>({
    text: "select proved_email as proved from person where email = any($1) order by email",
    values: [[known, unknown]],
  });
  expect(rows).toEqual([{ proved: known }, { proved: unknown }]);
  expect(await runTracker(world, "person", "list")).not.toContain(`${unknown} not proved`);
});

test("a link that was asked for by mail outlasts new rights, and ends with the e-mail (G209)", async () => {
  const email = scene.address("asked");
  const { personId } = await enterAs(world, email, world.tenant, { role: "analyst" });
  const token = await scene.resetByMail(email);
  await makeMembership(world.pool, personId, other, { role: "admin" });
  expect((await scene.redeem(token, OWNER)).outcome).toBe("200");
  const late = await scene.resetByMail(email);
  await world.pool.query({
    text: "update person set email = $2 where id = $1",
    values: [personId, scene.address("moved")],
  });
  expect((await scene.redeem(late, OWNER)).outcome).toBe(ENDED);
});

test.each([
  ["a passkey", "/person/passkeys"],
  ["codes", "/person/totp"],
  ["a first code", "/person/totp/confirm"],
  ["recovery codes", "/person/recovery-codes"],
  ["a provider", "/person/oidc"],
  ["an invitation", "/invitations"],
  ["a renewed invitation", "/invitations/{id}/renew"],
  ["a reset link", "/members/{id}/reset-link"],
] as const)("a session that has just ended adds no way back: %s (G212)", async (_, path) => {
  const browser = await enterAs(world, scene.address("ending"), world.tenant, { role: "admin" });
  const made = await browser.post("/invitations", { email: scene.address("x"), role: "analyst" });
  const id = path.startsWith("/members") ? inviter.membership : String(data(made)["id"]);
  const bodyOf = async (): Promise<unknown> => {
    if (path === "/invitations") return { email: scene.address("y"), role: "admin" };
    if (path === "/person/totp/confirm") return { code: codeAt(await beginCodes(browser)) };
    if (path === "/person/recovery-codes") await setUpCodes(browser);
    if (path === "/person/oidc") {
      scene.provider.accounts.set("late", {
        email: "l@x.example",
        email_verified: true,
        name: "L",
      });
      return await atProvider(scene.provider, browser, path, "late");
    }
    if (path !== "/person/passkeys") return undefined;
    const { challenge_id, challenge } = await askForPasskey(browser, `${path}/options`);
    const response = new SoftwareAuthenticator().attest({ ...SITE, challenge });
    return { challenge_id, name: "Late", response };
  };
  const body = await bodyOf();
  // The session is remembered for a second.
  expect((await browser.get("/session")).status).toBe(200);
  await world.pool.query({
    text: "delete from session where person_id = $1",
    values: [browser.personId],
  });
  const late = await browser.post(path.replace("{id}", String(id)), body);
  expect(outcome(late)).toBe(REFUSED);
});

test("a sign-in that is under way when its password or passkey goes opens no session (G212)", async () => {
  const email = scene.address("under-way");
  const person = await enterAs(world, email, world.tenant, { role: "admin" });
  const { authenticator } = await addPasskey(person);
  const ends = `with gone as (delete from passkey where person_id = $1)
                update person set password_hash = 'another' where id = $1`;
  const { signedIn } = await whileUncommitted(world.pool, [ends, person.personId], async () => {
    const both = Promise.all([
      new PersonBrowser(world.origin).signIn(email),
      signInWith(world, authenticator).then(({ answer }) => answer),
    ]);
    await untilWaiting(world.pool, 2);
    return { signedIn: both };
  });
  expect((await signedIn).map(outcome)).toEqual([REFUSED, REFUSED]);
});
