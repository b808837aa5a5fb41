import { expect, test } from "vitest";
import { openLog } from "../host/log.ts";
import type { ProcessIdentity } from "../host/ops-server.ts";
import type { Queryable, Statement } from "../postgres/connect.ts";
import { Heartbeat } from "./heartbeat.ts";

const log = openLog({ process: "test", level: "silent" });
const process: ProcessIdentity = {
  id: "a",
  role: "api",
  name: "api-9441",
  host: "api-1",
  opsPort: 9_441,
  startedAtMs: 0,
};

/** What `select name … where number = 1` returns in an empty database. */
const NOTHING = { rows: [], rowCount: 0, command: "SELECT", oid: 0, fields: [] };

/**
 * A Postgres whose statements end as `answer` says. Unless `isKnown` is false, it first says that its data is ours. `asked` has the names
 * of all statements.
 */
function awayPostgres(
  answer: () => Promise<never>,
  isKnown = true,
): Queryable & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    query: async ({ name = "" }: Statement) => {
      asked.push(name);
      return isKnown && name === "first-migration" ? NOTHING : await answer();
    },
  };
}

test("a Postgres that refuses disturbs neither the process nor its end, and is asked again (P2)", async () => {
  const db = awayPostgres(async () => await Promise.reject(new Error("no connection")));
  const heartbeat = Heartbeat.start({ db, process, log, everyMs: 1 });
  await expect.poll(() => db.asked.length).toBeGreaterThan(3);
  await heartbeat.close();
  expect(new Set(db.asked.slice(1))).toEqual(new Set(["write-heartbeat", "delete-heartbeat"]));
  expect(db.asked.at(-1)).toBe("delete-heartbeat");
});

test("a Postgres that hangs delays the end of the process by 3 s at most, and one beat waits (P2)", async () => {
  const db = awayPostgres(async () => await new Promise<never>(() => undefined));
  const heartbeat = Heartbeat.start({ db, process, log, everyMs: 1 });
  await expect.poll(() => db.asked.length).toBe(2);
  const startMs = performance.now();
  await heartbeat.close();
  expect(performance.now() - startMs).toBeLessThan(3_000);
  // The row is not deleted: the beat under way could write it again.
  expect(db.asked).toEqual(["first-migration", "write-heartbeat"]);
});

test("a process that does not know yet whose data it is writes and deletes nothing, and asks again (P2)", async () => {
  const db = awayPostgres(async () => await Promise.reject(new Error("no connection")), false);
  const heartbeat = Heartbeat.start({ db, process, log, everyMs: 1 });
  await expect.poll(() => db.asked.length).toBeGreaterThan(3);
  await heartbeat.close();
  expect(new Set(db.asked)).toEqual(new Set(["first-migration"]));
});

test("a process has entered when its first beat has ended, so none is written behind it (P39)", async () => {
  let [begun, written] = [0, 0];
  const db: Queryable = {
    query: async ({ name = "" }: Statement) => {
      if (name !== "write-heartbeat" && name !== "delete-heartbeat") return NOTHING;
      begun += 1;
      if (begun === 1) await new Promise((resolve) => setTimeout(resolve, 50));
      written += 1;
      return NOTHING;
    },
  };
  const heartbeat = Heartbeat.start({ db, process, log, everyMs: 3_600_000 });
  // The empty schema is refused, after the row was written.
  await expect(heartbeat.enter()).rejects.toThrow("which this release needs");
  expect(written).toBe(2);
  await heartbeat.close();
});
