import { expect, test } from "vitest";
import { hashOfKey } from "../../../api/access/api-keys.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { MoneyWrites, moneyWrites } from "./money-writes.ts";

const writes = await forThisFile(MoneyWrites.open());
const { api } = writes;

type Line = {
  readonly key_id: number | null;
  readonly action: string;
  readonly ip: string;
  readonly status: number;
  readonly workspace_id: number;
};

/** Lines since the last one of before. */
async function linesAfter(id: number): Promise<Line[]> {
  return await api.rows<Line>(
    "select key_id, action, host(ip) as ip, status, workspace_id from audit_log where id > $1 order by id",
    [id],
  );
}

async function last(): Promise<number> {
  const [row] = await api.rows<{ id: number }>(
    "select coalesce(max(id), 0)::int as id from audit_log",
  );
  return row?.id ?? 0;
}

async function keyIdOf(secret: string): Promise<number | undefined> {
  const hash = hashOfKey(secret);
  return (
    await api.rows<{ id: number }>("select id from api_key where secret_hash = $1", [hash])
  )[0]?.id;
}

test("every write of Billing and Payouts is in a case of these tests (N13)", () => {
  expect(
    moneyWrites.map(({ name }) => name).filter((name) => writes.make[name] === undefined),
  ).toEqual([]);
  expect(moneyWrites.length).toBeGreaterThanOrEqual(22);
});

test.each(moneyWrites.map((operation) => [operation.name, operation] as const))(
  "%s: the write and its refusal each leave one line in the audit log, with key and address (N13)",
  async (name, operation) => {
    const make = writes.make[name];
    if (make === undefined) throw new Error(`no case of ${name}`);
    const write = await make();
    const before = await last();
    const done = await writes.send(operation, write);
    expect(done.status, done.text).toBe(operation.status);
    const { admin, analyst } = api.tenant.keys;
    const refused = await writes.send(operation, { ...write, key: analyst });
    expect(refused.status).toBe(403);
    const expected = {
      action: `rest ${operation.method} /api/v1${write.path.split("?", 1)[0] ?? ""}`,
      ip: "127.0.0.1",
      workspace_id: api.tenant.workspaceId,
    };
    expect(await linesAfter(before)).toEqual([
      { ...expected, key_id: await keyIdOf(write.key ?? admin), status: operation.status },
      { ...expected, key_id: await keyIdOf(analyst), status: 403 },
    ]);
  },
);
