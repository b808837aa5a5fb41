import { expect, test } from "vitest";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { isPostgresAway } from "../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { TcpGate } from "./tcp-gate.ts";
import { serverUrls } from "./tracking-world.ts";

test("a silent Postgres is an outage within a bound, for statements and transactions (P15)", async () => {
  const url = new URL(serverUrls().postgres);
  const gate = await TcpGate.open({ host: url.hostname, port: Number(url.port || "5432") });
  url.hostname = "127.0.0.1";
  url.port = String(gate.port);
  const pool = openPool({
    url: url.toString(),
    applicationName: "test",
    statementTimeoutMs: 100,
    connectionsMax: 2,
  });
  const ask = { text: "select 1 as one" };
  try {
    await Promise.all([pool.query(ask), pool.query(ask)]);
    gate.freeze();
    const startedAtMs = Date.now();
    const faults = await Promise.all([
      pool.query(ask).catch((error: unknown) => error),
      inTransaction(pool, (db) => db.query(ask)).catch((error: unknown) => error),
    ]);
    expect(faults.map(isPostgresAway)).toEqual([true, true]);
    expect(Date.now() - startedAtMs).toBeLessThan(10_000);
    // Nobody is handed a connection of before.
    await gate.shut();
    await gate.open();
    expect((await pool.query(ask)).rows).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
    await gate.shut();
  }
});
