import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, list, record, refusal } from "./api-world.ts";
import { runTracker, spawnTracker } from "./run-tracker.ts";

const Records = z.array(z.record(z.string(), z.unknown()));

const world = await forThisFile(ApiWorld.open());

async function tracker(...args: string[]): Promise<string> {
  return await runTracker(world, ...args);
}

/** Runs a command for the workspace "first". */
async function inFirst(...args: string[]): Promise<string> {
  return await tracker(...args, "--workspace", "first");
}

async function listed(...args: string[]): Promise<Record<string, unknown>[]> {
  return Records.parse(JSON.parse(await tracker(...args, "--json")));
}

async function actions(): Promise<string[]> {
  const { rows } = await world.pool.query<{ action: string; status: number; user_name: string }>({
    text: `select action, status, user_name from audit_log
           where workspace_id = $1 and key_id is null and action like 'cli %' order by id`,
    values: [world.tenant.workspaceId],
  });
  return rows.map(({ action, status, user_name: user }) => `${action} ${status} ${user}`);
}

test("a key is listed without its secret, and refused once revoked", async () => {
  const secret =
    (await inFirst("key", "create", "--role", "analyst", "--name", "Short-lived")).split("\n")[0] ??
    "";
  expect(secret).toMatch(/^trk_live_\w{40}$/);
  expect((await world.get("/me", secret)).status).toBe(200);
  const keys = await listed("key", "list", "--workspace", "first");
  const made = keys.find(({ name }) => name === "Short-lived");
  expect(made).toMatchObject({ role: "analyst", revoked_at: null });
  expect(JSON.stringify(keys)).not.toContain("trk_live_");
  await inFirst("key", "revoke", String(made?.["id"]));
  const fresh = await world.startAnother();
  expect(refusal(await world.callAt(fresh, "GET", "/me", { key: secret }))).toBe(
    "401 invalid_api_key",
  );
  expect(await inFirst("key", "list")).toMatch(/Short-lived +analyst +revoked/);
  await expect(inFirst("key", "revoke", "999999")).rejects.toThrow(/no such key.*`key list`/);
});

test("keys of the command line follow the rules of REST: permissions, addresses, expiry", async () => {
  const options = ["--permission", "reports.read", "--ip-allowlist", "192.0.2.0/24"];
  await inFirst("key", "create", "--role", "analyst", "--name", "Narrow", ...options);
  const keys = await listed("key", "list", "--workspace", "first");
  expect(keys.find(({ name }) => name === "Narrow")).toMatchObject({
    permissions: ["reports.read"],
    ip_allowlist: ["192.0.2.0/24"],
  });
  const create = async (...more: string[]) =>
    await inFirst("key", "create", "--role", "analyst", ...more);
  await expect(create("--permission", "offers.write")).rejects.toThrow(/permissions\[0\]/);
  await expect(create("--expires-at", "2001-01-01T00:00:00Z")).rejects.toThrow(
    /time in the future/,
  );
});

test("a user is created, deactivated and listed", async () => {
  await inFirst("user", "create", "--name", "Jo Doe", "--email", "jo@acme.example");
  const jo = (await listed("user", "list", "--workspace", "first")).find(
    ({ name }) => name === "Jo Doe",
  );
  await inFirst("user", "set-status", String(jo?.["id"]), "--set", "inactive");
  expect(await inFirst("user", "list")).toMatch(/Jo Doe +jo@acme\.example +inactive/);
  await expect(inFirst("user", "create", "--name", "X", "--email", "none")).rejects.toThrow(
    /email: expected an e-mail/,
  );
  await expect(inFirst("user", "set-status", String(jo?.["id"]), "--set", "off")).rejects.toThrow(
    /status: expected one of/,
  );
});

test("a domain is added, made the default, certified, assigned and removed", async () => {
  await inFirst("domain", "add", "Go.Acme.example", "--default");
  await inFirst("domain", "add", "b.example", "--scheme", "http");
  await inFirst("domain", "set-default", "b.example");
  await inFirst("domain", "certify", "GO.acme.example");
  expect(await inFirst("domain", "list")).toMatch(
    /b\.example +http +active +yes +not_certified\n\d+ +go\.acme\.example +https +active +no +certified/,
  );
  await inFirst("domain", "assign", "go.acme.example", "--affiliate", world.tenant.affiliateCode);
  const [assignment] = list(await world.get("/tracking-domain-assignments"));
  expect(assignment).toMatchObject({ affiliate_id: world.tenant.affiliateId, offer_id: null });
  await expect(inFirst("domain", "remove", "go.acme.example")).rejects.toThrow(/still used/);
  await expect(inFirst("domain", "assign", "go.acme.example")).rejects.toThrow(
    /partner, an offer or both/,
  );
  expect(await inFirst("domain", "assignments")).toMatch(/go\.acme\.example/);
  await inFirst("domain", "unassign", String(assignment?.id));
  await inFirst("domain", "set-status", "go.acme.example", "--set", "inactive");
  await inFirst("domain", "remove", "go.acme.example");
  expect(list(await world.get("/tracking-domains")).map(({ host }) => host)).toEqual(["b.example"]);
  await expect(inFirst("domain", "add", "b.example")).rejects.toThrow(
    /another record has this host/,
  );
  await expect(inFirst("domain", "certify", "c.example")).rejects.toThrow(/no domain c\.example/);
});

test("settings of a workspace are shown without its token, and changed all or none", async () => {
  const change = [
    "ip_storage=truncated",
    "allowed_destinations=a.example|b.example",
    'fraud_checks={"bot":true}',
  ];
  await inFirst("workspace", "settings", "set", ...change, "advertiser_updates=false");
  expect(record(await world.get("/workspace"))).toMatchObject({
    ip_storage: "truncated",
    allowed_destinations: ["a.example", "b.example"],
    fraud_checks: { bot: true },
    advertiser_updates: false,
  });
  const shown = await inFirst("workspace", "settings", "show");
  expect(shown).toMatch(/ip_storage +truncated/);
  expect(shown + (await inFirst("workspace", "settings", "show", "--json"))).not.toContain(
    "postback_token",
  );
  await expect(
    inFirst("workspace", "settings", "set", "brand_name=New", "currency=XXXX"),
  ).rejects.toThrow(/currency: expected an ISO/);
  expect(record(await world.get("/workspace"))["brand_name"]).toBe("first");
  await inFirst("workspace", "settings", "set", `organic_affiliate_id=${world.tenant.affiliateId}`);
  await inFirst("workspace", "settings", "set", "organic_affiliate_id=null", "brand_name=");
  expect(record(await world.get("/workspace"))).toMatchObject({
    organic_affiliate_id: null,
    brand_name: "",
  });
});

test("every workspace is listed", async () => {
  await world.addTenant("second");
  expect(await tracker("workspace", "list")).toMatch(/first +first +active +UTC +USD\n\d+ +second/);
  const all = await listed("workspace", "list");
  expect(all.map(({ slug }) => slug)).toEqual(["first", "second"]);
  expect(JSON.stringify(all)).not.toContain("token");
});

test("the audit log has every write with the command's name, also refused ones (G177)", async () => {
  const before = await actions();
  await inFirst("user", "create", "--name", "Audited");
  await expect(inFirst("key", "revoke", "999999")).rejects.toThrow(/no such key/);
  await inFirst("user", "list");
  expect((await actions()).slice(before.length)).toEqual([
    "cli user create 201 command line",
    "cli key revoke 404 command line",
  ]);
  expect(list(await world.get("/audit-log?action=cli%20user%20create"))[0]).toMatchObject({
    key_id: null,
    ip: null,
  });
});

test("a key is shown although its entry in the audit log fails; a workspace is then not made at all", async () => {
  await world.pool.query({
    text: "alter table audit_log add constraint refused check (action not like 'cli %') not valid",
  });
  const key = ["key", "create", "--role", "analyst", "--workspace", "first"];
  const made = await spawnTracker(world, ...key).ended;
  const workspace = ["workspace", "create", "--name", "Third"] as const;
  const refused = await spawnTracker(world, ...workspace).ended;
  await world.pool.query({ text: "alter table audit_log drop constraint refused" });
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("audit.not-written")]);
  expect(made.stdout).toMatch(/^trk_live_\w{40}/);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(await tracker(...workspace)).toContain("(third) is created");
});

test("results go to standard output, faults to standard error, with different exit codes", async () => {
  const done = await spawnTracker(world, "user", "list", "--workspace", "first").ended;
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(done.stdout).toContain("EMAIL");
  const refused = await spawnTracker(world, "user", "list", "--workspace", "gone").ended;
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/no workspace gone/);
  const wrong = await spawnTracker(world, "user", "list").ended;
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toMatch(/--workspace is missing\.\n\nUsage: npm run tracker -- user list/);
  await world.pool.query({
    text: "insert into schema_migration (number, name) values (9000, 'of a newer release')",
  });
  const newer = await spawnTracker(world, "user", "list", "--workspace", "first").ended;
  await world.pool.query({ text: "delete from schema_migration where number = 9000" });
  expect(newer).toMatchObject({ code: 3, stdout: "" });
});

test("`tracker migrate` refuses data of a commit before the first release with exit code 3 and one line", async () => {
  await world.pool.query({
    text: "update schema_migration set name = '0001_catalog.sql' where number = 1",
  });
  const refused = await tracker("migrate").catch((error: unknown) => error);
  await world.pool.query({
    text: "update schema_migration set name = '0001_schema.sql' where number = 1",
  });
  expect(refused).toMatchObject({ exitCode: 3 });
  expect(String(refused)).toMatch(
    /Postgres was not migrated: Postgres has data of a commit before the first release: [^\n]* began with 0001_catalog\.sql, [^\n]* Stay at 1ec7599a, [^\n]*upgrade\.md[^\n]*$/,
  );
});
