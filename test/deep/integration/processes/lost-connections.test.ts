import { expect, test } from "vitest";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import { isPostgresAway, postgresCode } from "../../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { openStores, Stores } from "../../../services/stores.ts";
import { pause } from "../../../system/service.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";

const stores = await forThisFile(openStores({ label: "lost" }).then((parts) => new Stores(parts)));

// An uncaught error would fail the whole run.
test("a connection that is lost between two statements of a transaction ends that, not the process", async () => {
  const gate = await TcpGate.open(stores.env.POSTGRES_URL);
  const pool = openPool({ url: gate.urlOf(stores.env.POSTGRES_URL), applicationName: "test" });
  try {
    const lost: unknown = await inTransaction(pool, async (tx) => {
      await tx.query({ text: "select 1" });
      await gate.shut();
      // Nothing says when the driver has noticed.
      await pause(100);
      await tx.query({ text: "select 2" });
    }).catch((error: unknown) => error);
    expect(isPostgresAway(lost)).toBe(true);
    await gate.open();
    const { rows } = await inTransaction(pool, async (tx) => tx.query({ text: "select 3 as one" }));
    expect(rows).toEqual([{ one: 3 }]);
  } finally {
    await pool.end();
    await gate.shut();
  }
});

test("a process that stood still in a transaction for longer than Postgres allows reports an outage (P15)", async () => {
  const pool = openPool({ url: stores.env.POSTGRES_URL, applicationName: "test" });
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  try {
    const lost: unknown = await inTransaction(pool, async (tx) => {
      await tx.query({ text: "set local idle_in_transaction_session_timeout = 50" });
      // Not a pause: while this process stands still, the driver does not see that the connection has ended.
      Atomics.wait(asleep, 0, 0, 500);
      await tx.query({ text: "select 2" });
    }).catch((error: unknown) => error);
    expect(postgresCode(lost)).toBe("25P03");
    expect(isPostgresAway(lost)).toBe(true);
    const { rows } = await pool.query({ text: "select 3 as one" });
    expect(rows).toEqual([{ one: 3 }]);
  } finally {
    await pool.end();
  }
});
