import { expect, test } from "vitest";
import { createWorkspace } from "../../../api/cli/workspaces.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../../schemas/postgres/migrate.ts";
import { freshDatabase } from "../../services/fresh-database.ts";
import { serverUrls } from "../../services/stores.ts";

async function emptyDatabase(): Promise<{ readonly db: Pool } & AsyncDisposable> {
  const database = await freshDatabase({ label: "host_owners", servers: serverUrls() });
  const db = openPool({ url: database.postgresUrl, applicationName: "test" });
  return {
    db,
    [Symbol.asyncDispose]: async () => {
      await db.end();
      await database.drop();
    },
  };
}

test("one of several workspaces created at once gets the host of TRACKING_URL (#13, G200)", async () => {
  await using fresh = await emptyDatabase();
  await migratePostgres(fresh.db);
  const made = await Promise.all(
    ["a", "b", "c", "d"].map((slug) =>
      createWorkspace(fresh.db, {
        name: slug,
        slug,
        timezone: "UTC",
        currency: "USD",
        trackingUrl: "http://GO.example:80",
      }),
    ),
  );
  const having = made.filter(({ hasDomain }) => hasDomain).map(({ id }) => id);
  const { rows } = await fresh.db.query({
    text: "select workspace_id, host, scheme, is_default from tracking_domain",
  });
  expect(having).toHaveLength(1);
  expect(rows).toEqual([
    { workspace_id: having[0], host: "go.example", scheme: "http", is_default: true },
  ]);
});

test("equal codes of before a host was shared stay, new ones are refused (#13, G200)", async () => {
  await using fresh = await emptyDatabase();
  const { db } = fresh;
  await migratePostgres(db);
  await db.query({
    text: "insert into workspace (slug, name, postback_token) values ('w1', 'W', 't1'), ('w2', 'W', 't2')",
  });
  await db.query({
    text: `insert into affiliate (workspace_id, code, name, currency)
           values (1, 'SAME01', 'Same', 'USD'), (2, 'SAME01', 'Same', 'USD')`,
  });
  await db.query({
    text: `insert into tracking_domain (workspace_id, host, shared_from)
           values (2, '127.0.0.1:8080', null), (1, '127.0.0.1:8080', 1)`,
  });
  await db.query({ text: "update affiliate set name = 'Still' where code = 'SAME01'" });
  await expect(
    db.query({
      text: "insert into affiliate (workspace_id, code, name, currency) values (1, 'other1', 'O', 'USD'), (2, 'OTHER1', 'O', 'USD')",
    }),
  ).rejects.toMatchObject({ code: "23505", constraint: "affiliate_code" });
});
