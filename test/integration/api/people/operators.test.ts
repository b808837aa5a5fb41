import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ApiWorld } from "../api-world.ts";
import {
  data,
  makeMembership,
  makePerson,
  openAs,
  outcome,
  PersonBrowser,
} from "./person-browser.ts";

const Rows = z.array(z.looseObject({ id: z.int(), slug: z.string() }));
const System = z.looseObject({
  stores: z.array(z.object({ name: z.string(), is_reachable: z.boolean() }).loose()),
  waiting: z.record(z.string(), z.number()),
  lines: z.array(z.looseObject({ name: z.string() })),
});

const world = await forThisFile(ApiWorld.open());
const other = await world.addTenant("second");

const operatorId = await makePerson(world.pool, "runs@it.example", true);
const operator = new PersonBrowser(world.origin);
operator.membership = await makeMembership(world.pool, operatorId, world.tenant, { role: "admin" });
await operator.signIn("runs@it.example");
const admin = await openAs(world, "admin@first.example", world.tenant, { role: "admin" });

const CALLS = [
  ["GET", "/system", undefined],
  ["GET", "/workspaces", undefined],
  ["POST", "/workspaces", { name: "X", slug: "x" }],
  ["PATCH", `/workspaces/${other.workspaceId}`, { status: "inactive" }],
  ["PATCH", "/workspaces/999999", { nonsense: true }],
] as const;

test.each(CALLS)(
  "%s %s is refused to an admin who does not run the installation, and to every key",
  async (method, path, body) => {
    expect(outcome(await admin.call(method, path, { body }))).toBe("403 forbidden");
    const authorization = `Bearer ${world.tenant.keys.admin}`;
    const byKey = new PersonBrowser(world.origin);
    const answer = await byKey.call(method, path, { body, headers: { authorization } });
    expect(outcome(answer)).toBe("403 forbidden");
  },
);

test("an operator makes a workspace, is its admin, and its key works at once", async () => {
  const made = data(
    await operator.post("/workspaces", { name: "Third shop", slug: "third", currency: "EUR" }),
  );
  expect(made).toMatchObject({ slug: "third", currency: "EUR", timezone: "UTC", members: 1 });
  const key = z.string().parse(made["admin_key"]);
  expect((await world.get("/workspace", key)).body).toMatchObject({ data: { slug: "third" } });
  const session = data(await operator.get("/session"));
  expect(JSON.stringify(session["memberships"])).toContain('"slug":"third"');
  const again = await operator.post("/workspaces", { name: "Other", slug: "third" });
  expect(outcome(again)).toBe("409 conflict");
  const { rows } = await world.pool.query<{ action: string; person_id: number }>({
    text: "select action, person_id from audit_log where workspace_id = $1 and action like '%/workspaces%'",
    values: [made["id"]],
  });
  expect(rows).toEqual([{ action: "rest POST /workspaces", person_id: operatorId }]);
});

test("a workspace that is switched off refuses its keys, and works again when it is switched on", async () => {
  const path = `/workspaces/${other.workspaceId}`;
  const change = async (status: string): Promise<unknown> =>
    data(await operator.call("PATCH", path, { body: { status } }))["status"];
  expect(await change("inactive")).toBe("inactive");
  await expect
    .poll(async () => (await world.get("/me", other.keys.admin)).status, { timeout: 5_000 })
    .toBe(403);
  expect(await change("active")).toBe("active");
  await expect
    .poll(async () => (await world.get("/me", other.keys.admin)).status, { timeout: 5_000 })
    .toBe(200);
  const rows = Rows.parse(
    z.object({ data: z.unknown() }).parse((await operator.get("/workspaces")).body).data,
  );
  expect(rows.map(({ slug }) => slug)).toEqual(rows.map(({ slug }) => slug).toSorted());
  expect(rows.map(({ id }) => id)).toContain(other.workspaceId);
});

test("the state of the installation is asked of all servers, from whichever process", async () => {
  const second = await world.startAnother();
  for (const origin of [world.origin, second]) {
    const answer = await operator.call("GET", "/system", { origin });
    const { stores, waiting, lines } = System.parse(data(answer));
    expect(stores).toMatchObject([
      { name: "postgres", is_reachable: true },
      { name: "nats", is_reachable: true },
      { name: "clickhouse", is_reachable: true },
    ]);
    expect(waiting).toMatchObject({ deliveries: 0 });
    expect(lines.map(({ name }) => name)).toEqual([
      "clicks",
      "journal",
      "lanes",
      "stores",
      "audit",
    ]);
  }
});
