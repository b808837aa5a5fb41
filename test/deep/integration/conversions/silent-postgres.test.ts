import { expect, test } from "vitest";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import { isPostgresAway } from "../../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { serverUrls } from "../../../services/stores.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";

test("a silent Postgres is an outage within a bound, for statements and transactions (P15)", async () => {
  const { postgres } = serverUrls();
  const gate = await TcpGate.open(postgres);
  const pool = openPool({
    url: gate.urlOf(postgres),
    applicationName: "test",
    statementTimeoutMs: 100,
    connectionsMax: 2,
  });
  const statement = { text: "select 1 as one" };
  try {
    await Promise.all([pool.query(statement), pool.query(statement)]);
    gate.freeze();
    const startedAtMs = Date.now();
    const faults = await Promise.all([
      pool.query(statement).catch((error: unknown) => error),
      inTransaction(pool, (db) => db.query(statement)).catch((error: unknown) => error),
    ]);
    expect(faults.map(isPostgresAway)).toEqual([true, true]);
    expect(Date.now() - startedAtMs).toBeLessThan(10_000);
    // The pool does not reuse an old connection.
    await gate.shut();
    await gate.open();
    expect((await pool.query(statement)).rows).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
    await gate.shut();
  }
});
