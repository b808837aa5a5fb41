import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";
import { ApiWorld } from "../api-world.ts";
import { data, makeMembership, makePerson, openAs, outcome } from "./person-browser.ts";

const Log = z.object({ data: z.array(z.object({ action: z.string() })) });

const world = await forThisFile(ApiWorld.open());
const other = await world.addTenant("second");

test("a changed role counts in the next request here, and within a second in another process (P41)", async () => {
  const second = await world.startAnother();
  const admin = await openAs(world, "chief@first.example", world.tenant, { role: "admin" });
  const colleague = await openAs(world, "colleague@first.example", world.tenant, { role: "admin" });
  const write = async (origin: string): Promise<string> =>
    outcome(await colleague.call("PATCH", "/workspace", { body: { name: "first" }, origin }));
  expect(await write(second)).toBe("200");
  const changed = await admin.call("PATCH", `/members/${colleague.membership}`, {
    body: { role: "analyst" },
  });
  expect(data(changed)).toMatchObject({ role: "analyst", version: 2 });
  expect(await write(world.origin)).toBe("403 read_only_key");
  await until(
    "the other process knows",
    async () => (await write(second)) === "403 read_only_key",
    {
      timeoutMs: 1_200,
      pollMs: 20,
    },
  );
  const me = await colleague.get("/me");
  expect(me.headers.get("x-tracker-membership-version")).toBe("2");
  expect((await admin.call("DELETE", `/members/${colleague.membership}`)).status).toBe(200);
  const gone = await colleague.get("/me");
  expect([outcome(gone), gone.headers.get("x-tracker-membership-version")]).toEqual([
    "403 forbidden",
    "0",
  ]);
});

test("the last admin of a workspace can neither leave nor lose rights, even by two requests at once", async () => {
  const tenant = await world.addTenant("lonely");
  const one = await openAs(world, "one@lonely.example", tenant, { role: "admin" });
  const two = await openAs(world, "two@lonely.example", tenant, { role: "admin" });
  await openAs(world, "narrow@lonely.example", tenant, {
    role: "admin",
    permissions: ["offers.read"],
  });
  const both = await Promise.all([
    one.call("PATCH", `/members/${two.membership}`, { body: { role: "analyst" } }),
    two.call("PATCH", `/members/${one.membership}`, { body: { role: "analyst" } }),
  ]);
  const outcomes = both.map(outcome).toSorted();
  expect([
    ["200", "403 read_only_key"],
    ["200", "409 conflict"],
  ]).toContainEqual(outcomes);
  const last = both[0].status === 200 ? one : two;
  for (const body of [
    { role: "analyst" },
    { status: "inactive" },
    { permissions: ["offers.read"] },
  ]) {
    const answer = await last.call("PATCH", `/members/${last.membership}`, { body });
    expect([body, outcome(answer)]).toEqual([body, "409 conflict"]);
  }
  expect(outcome(await last.call("DELETE", `/members/${last.membership}`))).toBe("409 conflict");
});

test("who loses the right to invite loses open invitations, too", async () => {
  const admin = await openAs(world, "boss@first.example", world.tenant, { role: "admin" });
  const inviter = await openAs(world, "leaver@first.example", world.tenant, { role: "admin" });
  await inviter.post("/invitations", { email: "friend@first.example", role: "admin" });
  await admin.call("PATCH", `/members/${inviter.membership}`, { body: { role: "analyst" } });
  const { rows } = await world.pool.query<{ open: number }>({
    text: "select count(*)::integer as open from one_time_link where made_by = $1 and revoked_at is null",
    values: [inviter.personId],
  });
  expect(rows).toEqual([{ open: 0 }]);
});

test("members of another workspace are not found, whoever asks and however", async () => {
  const admin = await openAs(world, "near@first.example", world.tenant, { role: "admin" });
  const far = await openAs(world, "far@second.example", other, { role: "admin" });
  const invited = await far.post("/invitations", { email: "x@second.example", role: "analyst" });
  const invitation = String(data(invited)["id"]);
  for (const [method, path] of [
    ["PATCH", `/members/${far.membership}`],
    ["DELETE", `/members/${far.membership}`],
    ["POST", `/members/${far.membership}/reset-link`],
    ["POST", `/invitations/${invitation}/renew`],
    ["DELETE", `/invitations/${invitation}`],
  ] as const) {
    const body = method === "PATCH" ? { role: "analyst" } : undefined;
    const answer = await admin.call(method, path, { body });
    expect([path, outcome(answer)]).toEqual([path, "404 not_found"]);
  }
  for (const path of ["/members", "/invitations", "/audit-log"])
    expect((await admin.get(path)).text).not.toContain("second.example");
  expect((await far.get("/members")).text).not.toContain("first.example");
});

test("people of a partner see and remove people of their own account only, and no field of staff", async () => {
  const { tenant } = world;
  const partner = await openAs(world, "pa@first.example", tenant, { role: "partner" });
  const mate = await makeMembership(
    world.pool,
    await makePerson(world.pool, "mate@first.example"),
    tenant,
    { role: "partner" },
  );
  const staff = await openAs(world, "st@first.example", tenant, { role: "admin" });
  const seen = await partner.get("/members");
  expect(seen.text).toContain("mate@first.example");
  expect(seen.text).not.toContain("st@first.example");
  expect(seen.text).not.toContain("permissions");
  expect(outcome(await partner.call("DELETE", `/members/${staff.membership}`))).toBe(
    "404 not_found",
  );
  expect((await partner.call("DELETE", `/members/${mate}`)).status).toBe(200);
});

test("sign-ins, failures and changes of factors stand in the audit log of the person's workspaces only", async () => {
  const person = await openAs(world, "logged@first.example", world.tenant, { role: "admin" });
  await person.signIn("logged@first.example", "wrong");
  await person.signIn("logged@first.example");
  const actions = async (): Promise<string[]> => {
    const { body } = await person.get(`/audit-log?person_id=${person.personId}&action=person:`);
    return Log.parse(body).data.map(({ action }) => action);
  };
  await until("the log has them", async () => (await actions()).length === 3);
  expect(await actions()).toEqual([
    "person:signed-in",
    "person:sign-in-failed",
    "person:signed-in",
  ]);
  const elsewhere = await openAs(world, "elsewhere@second.example", other, { role: "admin" });
  expect((await elsewhere.get("/audit-log")).text).not.toContain("logged@first.example");
});
