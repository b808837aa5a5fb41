import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createWorkspace } from "../../../api/command-line/workspaces.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
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

/** Applies every migration before the one whose name ends in `end`. */
async function migrateUntil(db: Pool, end: string): Promise<void> {
  const folder = projectFile("schemas", "postgres", "migrations");
  await db.query({
    text: `create table schema_migration (
             number integer primary key, name text not null, applied_at timestamptz not null default now())`,
  });
  for (const name of (await readdir(folder)).toSorted()) {
    if (name.endsWith(end)) return;
    await db.query({ text: await readFile(`${folder}/${name}`, "utf8") });
    await db.query({
      text: "insert into schema_migration (number, name) values ($1, $2)",
      values: [Number(name.slice(0, 4)), name],
    });
  }
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

test("the first of several workspaces with a host keeps it, the others share it (#13, G200)", async () => {
  await using fresh = await emptyDatabase();
  const { db } = fresh;
  await migrateUntil(db, "_host_owners.sql");
  await db.query({
    text: `insert into workspace (slug, name, postback_token) select 'w' || i, 'W', 't' || i from generate_series(1, 3) i`,
  });
  await db.query({
    text: `insert into tracking_domain (workspace_id, host, status, is_default)
           values (2, '127.0.0.1:8080', 'active', true), (1, '127.0.0.1:8080', 'active', true),
             (3, '127.0.0.1:8080', 'inactive', true), (1, 'Own.example', 'active', false), (3, 'own.example:443', 'active', false),
             (3, 'own.example:8443', 'active', false)`,
  });
  await db.query({
    text: `insert into affiliate (workspace_id, code, name, currency)
           select i, 'SAME01', 'Same', 'USD' from generate_series(1, 3) i`,
  });
  await migratePostgres(db);
  const { rows } = await db.query({
    text: "select id, workspace_id, host, status, is_default, shared_from from tracking_domain order by id",
  });
  const domain = (id: number, workspaceId: number, host: string, more: object = {}) => ({
    id,
    workspace_id: workspaceId,
    host,
    status: "active",
    is_default: id <= 3,
    shared_from: null,
    ...more,
  });
  expect(rows).toEqual([
    domain(1, 2, "127.0.0.1:8080"),
    domain(2, 1, "127.0.0.1:8080", { shared_from: 1 }),
    domain(3, 3, "127.0.0.1:8080", { shared_from: 1, status: "inactive" }),
    domain(4, 1, "Own.example"),
    domain(5, 3, "own.example:443", { shared_from: 4 }),
    domain(6, 3, "own.example:8443"),
  ]);
  // Existing equal codes stay and their records can be changed, but no new ones are accepted.
  await db.query({ text: "update affiliate set name = 'Still' where code = 'SAME01'" });
  await expect(
    db.query({
      text: "insert into affiliate (workspace_id, code, name, currency) values (1, 'other1', 'O', 'USD'), (2, 'OTHER1', 'O', 'USD')",
    }),
  ).rejects.toMatchObject({ code: "23505", constraint: "affiliate_code" });
});
