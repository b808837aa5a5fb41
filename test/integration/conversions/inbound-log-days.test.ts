import { afterAll, beforeAll, expect, test } from "vitest";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { makeLogDays } from "../../../schemas/postgres/log-days.ts";
import { migratePostgres } from "../../../schemas/postgres/migrate.ts";
import { migrationFiles } from "../../../schemas/versions/migration-files.ts";
import { type FreshDatabase, freshDatabase } from "../../services/fresh-database.ts";
import { serverUrls } from "../../services/stores.ts";

let database: FreshDatabase;
let db: Pool;

beforeAll(async () => {
  database = await freshDatabase({ label: "log_days", servers: serverUrls() });
  db = openPool({ url: database.postgresUrl, applicationName: "test" });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

test("rows from before daily partitions of the inbound log stay, and expire in time (#19)", async () => {
  const files = migrationFiles("postgres");
  const at = files.findIndex(({ name }) => name.endsWith("_retention.sql"));
  await migratePostgres(db, { files: files.slice(0, at) });
  await db.query({
    text: `insert into postback_log (workspace_id, ts, endpoint, http_status, result)
           select 1, now() - i * interval '10 days', 'pb', 200, 'before' from generate_series(0, 4) i`,
  });
  await migratePostgres(db, { files, isContract: true });
  await makeLogDays(db);
  // Today, where earlier rows are in the old partition, and the next days.
  await db.query({
    text: `insert into postback_log (workspace_id, ts, endpoint, http_status, result)
           select 1, now() + i * interval '1 day', 'pb', 200, 'after' from generate_series(0, 2) i`,
  });
  const { rows } = await db.query({
    text: `select result, count(*) as rows, count(distinct id) as ids from postback_log where workspace_id = 1
           group by result order by result`,
  });
  expect(rows).toEqual([
    { result: "after", rows: 3, ids: 3 },
    { result: "before", rows: 5, ids: 5 },
  ]);
  const { rows: doubled } = await db.query({
    text: "select id from postback_log group by id having count(*) > 1",
  });
  expect(doubled).toEqual([]);
  const forgotten = await db.query<{ rows: number }>({
    text: "select forget_other_postback_log(25, 100) as rows",
  });
  expect(forgotten.rows).toEqual([{ rows: 2 }]);
});
