import { beforeEach, expect, test } from "vitest";
import { insertLink, mintLinkToken } from "../../../../api/people/links.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ApiWorld, type Tenant } from "../api-world.ts";
import { untilWaiting, whileUncommitted } from "../locked-table.ts";
import { runTracker } from "../run-tracker.ts";
import {
  data,
  enterAs,
  forgetAttempts,
  makeMembership,
  makePerson,
  outcome,
  PASSWORD,
  PersonBrowser,
  redeem,
  tokenIn,
} from "./person-browser.ts";

const world = await forThisFile(ApiWorld.open());
const other = await world.addTenant("second");
const chief = await enterAs(world, "chief@first.example", world.tenant, { role: "admin" });

const NEW = { name: "Newcomer", password: PASSWORD };
const THIEF = { password: "a-password-of-the-thief" };
const ENDED = "404 not_found";
let count = 0;

beforeEach(async () => {
  await forgetAttempts(world);
});

/** An address that nobody has used yet. */
function address(word: string): string {
  count += 1;
  return `${word}${count}@first.example`;
}

async function sql(text: string, ...values: unknown[]): Promise<void> {
  await world.pool.query({ text, values });
}

async function lookUp(token: string): Promise<string> {
  const answer = await new PersonBrowser(world.origin).post("/one-time-links/look-up", { token });
  return outcome(answer);
}

/** A member without a session. */
async function member(tenant: Tenant, grant: Parameters<typeof makeMembership>[3]) {
  const email = address("member");
  const personId = await makePerson(world.pool, email);
  return { email, personId, membership: await makeMembership(world.pool, personId, tenant, grant) };
}

async function resetLink(maker: PersonBrowser, membership: number): Promise<string> {
  return tokenIn((await maker.post(`/members/${membership}/reset-link`)).text);
}

async function invite(maker: PersonBrowser, grant: object): Promise<string> {
  return tokenIn((await maker.post("/invitations", grant)).text);
}

/** Whether the link, which worked a moment ago, now neither shows what it is for nor can be used. */
async function expectEnded(token: string, body: Readonly<Record<string, string>>): Promise<void> {
  expect([await lookUp(token), (await redeem(world, token, body)).outcome]).toEqual([ENDED, ENDED]);
}

const GAINS: readonly [string, (personId: number, membership: number) => Promise<unknown>][] = [
  [
    "becomes an admin of another tenant",
    async (id) => await makeMembership(world.pool, id, other, { role: "admin" }),
  ],
  [
    "gets any membership in another tenant",
    async (id) => await makeMembership(world.pool, id, other, { role: "partner" }),
  ],
  [
    "gets another account in the same tenant",
    async (id) => await makeMembership(world.pool, id, world.tenant, { role: "advertiser" }),
  ],
  [
    "becomes the operator",
    async (id) => await sql("update person set is_operator = true where id = $1", id),
  ],
  [
    "gets a higher role in the same tenant",
    async (_id, membership) =>
      await chief.call("PATCH", `/members/${membership}`, { body: { role: "admin" } }),
  ],
  [
    "gets a higher role by hand",
    async (_id, membership) =>
      await sql("update membership set role = 'admin' where id = $1", membership),
  ],
  [
    "has another e-mail",
    async (id) => await sql("update person set email = 'new-' || email where id = $1", id),
  ],
  [
    "is no member any more",
    async (_id, membership) => await chief.call("DELETE", `/members/${membership}`),
  ],
];

test.each(GAINS)(
  "a reset link that an admin made ends when its person %s (G209)",
  async (_, gain) => {
    const { personId, membership } = await member(world.tenant, { role: "analyst" });
    const token = await resetLink(chief, membership);
    expect(await lookUp(token)).toBe("200");
    await gain(personId, membership);
    await expectEnded(token, THIEF);
  },
);

/** How the right to make links goes. The maker is a member of the first tenant. */
const LOSSES: readonly [
  string,
  (maker: { readonly personId: number; readonly membership: number }) => Promise<unknown>,
][] = [
  ["is removed", async ({ membership }) => await chief.call("DELETE", `/members/${membership}`)],
  [
    "is switched off",
    async ({ membership }) =>
      await chief.call("PATCH", `/members/${membership}`, { body: { status: "inactive" } }),
  ],
  [
    "only reads from now on",
    async ({ membership }) =>
      await chief.call("PATCH", `/members/${membership}`, { body: { role: "analyst" } }),
  ],
  [
    "keeps one permission only",
    async ({ membership }) =>
      await chief.call("PATCH", `/members/${membership}`, {
        body: { permissions: ["offers.read"] },
      }),
  ],
  [
    "is removed by hand",
    async ({ membership }) => await sql("delete from membership where id = $1", membership),
  ],
  [
    "is no active person any more",
    async ({ personId }) =>
      await sql("update person set status = 'inactive' where id = $1", personId),
  ],
];

test.each(LOSSES)(
  "a reset link and an invitation end when their maker %s (G209)",
  async (_, lose) => {
    const maker = await enterAs(world, address("maker"), world.tenant, { role: "admin" });
    const { email, membership } = await member(world.tenant, { role: "analyst" });
    const reset = await resetLink(maker, membership);
    const ownReset = await resetLink(maker, maker.membership);
    const partner = { role: "partner", affiliate_id: world.tenant.affiliateId };
    const invitations = [
      await invite(maker, { email: address("friend"), role: "admin" }),
      await invite(maker, { email: address("friend"), ...partner }),
    ];
    for (const token of [reset, ownReset, ...invitations]) expect(await lookUp(token)).toBe("200");
    await lose(maker);
    await expectEnded(reset, THIEF);
    await expectEnded(ownReset, THIEF);
    for (const token of invitations) await expectEnded(token, NEW);
    expect((await new PersonBrowser(world.origin).signIn(email)).status).toBe(200);
  },
);

test("an invitation of a partner's people ends while the account or the workspace is not active (G209)", async () => {
  const tenant = await world.addTenant("paused");
  const partner = await enterAs(world, address("partner"), tenant, { role: "partner" });
  const token = await invite(partner, {
    email: address("mate"),
    role: "partner",
    affiliate_id: tenant.affiliateId,
  });
  const account = "update affiliate set status = $2 where id = $1";
  await sql(account, tenant.affiliateId, "blocked");
  await expectEnded(token, NEW);
  await sql(account, tenant.affiliateId, "active");
  const workspace = "update workspace set status = $2 where id = $1";
  await sql(workspace, tenant.workspaceId, "inactive");
  await expectEnded(token, NEW);
  await sql(workspace, tenant.workspaceId, "active");
  expect((await redeem(world, token, NEW)).outcome).toBe("200");
});

test("rights that come back do not bring back the links that ended with them (G209)", async () => {
  const maker = await enterAs(world, address("maker"), world.tenant, { role: "admin" });
  const { membership } = await member(world.tenant, { role: "analyst" });
  const reset = await resetLink(maker, membership);
  const invitation = await invite(maker, { email: address("friend"), role: "analyst" });
  for (const role of ["analyst", "admin"])
    await chief.call("PATCH", `/members/${maker.membership}`, { body: { role } });
  await expectEnded(reset, THIEF);
  await expectEnded(invitation, NEW);
});

test("an invitation counts on for as long as its maker may grant just this (G209)", async () => {
  const permissions = ["affiliates.read", "affiliates.write"];
  const maker = await enterAs(world, address("maker"), world.tenant, {
    role: "admin",
    permissions,
  });
  const grant = { role: "partner", affiliate_id: world.tenant.affiliateId };
  const token = await invite(maker, { email: address("friend"), ...grant });
  const narrowed = (list: readonly string[]) =>
    sql("update membership set permissions = $2 where id = $1", maker.membership, list);
  await narrowed(["affiliates.read"]);
  await expectEnded(token, NEW);
  await narrowed(["affiliates.write"]);
  expect((await redeem(world, token, NEW)).outcome).toBe("200");
});

test("a removal that is under way when its maker's links are used counts first (G209)", async () => {
  const maker = await enterAs(world, address("maker"), world.tenant, { role: "admin" });
  const { membership } = await member(world.tenant, { role: "analyst" });
  const reset = await resetLink(maker, membership);
  const invitation = await invite(maker, { email: address("friend"), role: "analyst" });
  const removal = "delete from membership where id = $1";
  const { used } = await whileUncommitted(world.pool, [removal, maker.membership], async () => {
    const both = Promise.all([redeem(world, reset, THIEF), redeem(world, invitation, NEW)]);
    await untilWaiting(world.pool, 2);
    return { used: both };
  });
  expect((await used).map((one) => one.outcome)).toEqual([ENDED, ENDED]);
});

test("of a removal and ten uses of its maker's links at once, each use is before it or ends (G209)", async () => {
  const maker = await enterAs(world, address("maker"), world.tenant, { role: "admin" });
  const tokens = [];
  for (let i = 0; i < 5; i += 1) {
    const { membership } = await member(world.tenant, { role: "analyst" });
    tokens.push([await resetLink(maker, membership), THIEF] as const);
    const email = address("friend");
    tokens.push([await invite(maker, { email, role: "analyst" }), NEW] as const);
  }
  const [removed, ...used] = await Promise.all([
    chief.call("DELETE", `/members/${maker.membership}`),
    ...tokens.map(async ([token, body]) => (await redeem(world, token, body)).answer),
  ]);
  expect(removed.status).toBe(200);
  const outcomes = used.map(outcome);
  expect(outcomes.filter((one) => one !== "200" && one !== ENDED)).toEqual([]);
  await forgetAttempts(world);
  for (const [token, body] of tokens) await expectEnded(token, body);
});

test.each([
  ["removed", "DELETE", undefined],
  ["switched off", "PATCH", { status: "inactive" }],
] as const)(
  "a member who is %s does not come back by an older invitation, whoever made it (G210)",
  async (_, method, body) => {
    const email = address("gone");
    const gone = await enterAs(world, email, world.tenant, { role: "analyst" });
    const cli = ["person", "invite", email.toUpperCase(), "--workspace", "first", "--role"];
    const older = [
      await invite(chief, { email, role: "analyst" }),
      await invite(chief, { email, role: "admin" }),
      await invite(chief, { email, role: "partner", affiliate_id: world.tenant.affiliateId }),
      tokenIn(await runTracker(world, ...cli, "admin")),
    ];
    expect((await chief.call(method, `/members/${gone.membership}`, { body })).status).toBe(200);
    const back = new PersonBrowser(world.origin);
    await back.signIn(email);
    for (const token of older) {
      expect(await lookUp(token)).toBe(ENDED);
      expect(outcome(await back.post("/one-time-links/redeem", { token }))).toBe(ENDED);
    }
    const token = await invite(chief, { email, role: "analyst" });
    expect(outcome(await back.post("/one-time-links/redeem", { token }))).toBe("200");
    expect(data(await back.get("/session"))["memberships"]).toMatchObject([{ role: "analyst" }]);
  },
);

test("after a demotion no older invitation gives the higher role back (G210)", async () => {
  const email = address("demoted");
  const person = await enterAs(world, email, world.tenant, { role: "admin" });
  const older = await invite(chief, { email, role: "admin" });
  const body = { role: "partner", affiliate_id: world.tenant.affiliateId };
  const changed = await chief.call("PATCH", `/members/${person.membership}`, { body });
  expect(changed.status).toBe(200);
  expect(outcome(await person.post("/one-time-links/redeem", { token: older }))).toBe(ENDED);
  expect(data(await person.get("/session"))["memberships"]).toMatchObject([{ role: "partner" }]);
});

test("a member's own name or manager can change without ending an invitation (G210)", async () => {
  const { email, membership } = await member(world.tenant, { role: "analyst" });
  const token = await invite(chief, {
    email,
    role: "partner",
    affiliate_id: world.tenant.affiliateId,
  });
  const manager = await world.insert("app_user", {
    workspace_id: world.tenant.workspaceId,
    name: "Manager",
  });
  const changed = await chief.call("PATCH", `/members/${membership}`, {
    body: { user_id: manager },
  });
  expect(changed.status).toBe(200);
  expect(await lookUp(token)).toBe("200");
});

test("people of a partner who remove a colleague end invitations of their own account only (G210)", async () => {
  const rival = await world.insert("affiliate", {
    workspace_id: world.tenant.workspaceId,
    currency: "USD",
    code: "RIVAL2",
    name: "Rival",
    approved_at: "now",
  });
  const partner = await enterAs(world, address("partner"), world.tenant, { role: "partner" });
  const { email, membership } = await member(world.tenant, { role: "partner" });
  const own = { role: "partner", affiliate_id: world.tenant.affiliateId };
  const ofOwn = await invite(partner, { email, ...own });
  const ofRival = await invite(chief, { email, role: "partner", affiliate_id: rival });
  expect((await partner.call("DELETE", `/members/${membership}`)).status).toBe(200);
  expect([await lookUp(ofOwn), await lookUp(ofRival)]).toEqual([ENDED, "200"]);
});

test("a reset link of the command line stays when its person gains rights, and ends with the e-mail (G209)", async () => {
  const { email, personId } = await member(world.tenant, { role: "analyst" });
  const stays = tokenIn(await runTracker(world, "person", "reset-link", email));
  await makeMembership(world.pool, personId, other, { role: "admin" });
  expect((await redeem(world, stays, { password: PASSWORD })).outcome).toBe("200");
  const ends = tokenIn(await runTracker(world, "person", "reset-link", email));
  await sql("update person set email = $2 where id = $1", personId, address("moved"));
  await expectEnded(ends, THIEF);
});

test("a link that an operator makes in the console ends with the rights of the membership (G209)", async () => {
  const maker = await enterAs(world, address("operator"), world.tenant, { role: "admin" });
  await sql("update person set is_operator = true where id = $1", maker.personId);
  const { membership } = await member(world.tenant, { role: "analyst" });
  const reset = await resetLink(maker, membership);
  const invitation = await invite(maker, { email: address("friend"), role: "admin" });
  await chief.call("DELETE", `/members/${maker.membership}`);
  await expectEnded(reset, THIEF);
  await expectEnded(invitation, NEW);
});

test("an admin who renews the invitation of a colleague makes it his own (G209)", async () => {
  const maker = await enterAs(world, address("maker"), world.tenant, { role: "admin" });
  const made = await maker.post("/invitations", { email: address("friend"), role: "analyst" });
  await chief.call("DELETE", `/members/${maker.membership}`);
  const path = `/invitations/${String(data(made)["id"])}/renew`;
  const renewed = tokenIn((await chief.post(path)).text);
  await expectEnded(tokenIn(made.text), NEW);
  expect((await redeem(world, renewed, NEW)).outcome).toBe("200");
});

test("a refused link says what has become of it, and what to do (G209)", async () => {
  const tokens = [];
  for (const word of ["used", "withdrawn", "late", "renewed", "stands"]) {
    const made = await chief.post("/invitations", { email: address(word), role: "analyst" });
    tokens.push({ token: tokenIn(made.text), id: String(data(made)["id"]) });
  }
  const [used, withdrawn, late, renewed] = tokens;
  await redeem(world, used?.token ?? "", NEW);
  await chief.call("DELETE", `/invitations/${withdrawn?.id ?? ""}`);
  await sql("update one_time_link set expires_at = now() where id = $1", late?.id);
  await chief.post(`/invitations/${renewed?.id ?? ""}/renew`);
  const said = [];
  for (const { token } of tokens) {
    const { answer } = await redeem(world, token);
    said.push(/"message":"([^"]*)"/.exec(answer.text)?.[1]);
  }
  expect(said).toEqual([
    "this link has ended, because it was used, and works once: ask for a new one",
    "this link has ended, because it was withdrawn, or somebody's rights have changed: ask for a new one",
    "this link has ended, because it is too old: ask for a new one",
    "no such link: copy the whole of it, or ask for a new one",
    "wrong or missing: password, name",
  ]);
});

test("a reset link that an earlier release made, for no address, has ended (G209)", async () => {
  const { personId } = await member(world.tenant, { role: "analyst" });
  const token = mintLinkToken();
  await insertLink(world.pool, { shown: token }, { kind: "reset", personId });
  await expectEnded(token, THIEF);
});

test("the link of the first admin ends once somebody is an admin (G209)", async () => {
  const noAdmins = "update membership set status = 'inactive' where role = 'admin'";
  await sql(noAdmins);
  const first = tokenIn(await runTracker(world, "person", "first-link"));
  const cli = ["person", "invite", address("admin"), "--workspace", "first", "--role", "admin"];
  expect((await redeem(world, tokenIn(await runTracker(world, ...cli)), NEW)).outcome).toBe("200");
  await sql(noAdmins);
  await expectEnded(first, { ...NEW, email: address("late") });
});
