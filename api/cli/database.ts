import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { assertPostgresMigrated } from "../../schemas/postgres/migrate.ts";
import type { CommandEnvironment } from "./command.ts";
import { findServers } from "./servers.ts";

const CONNECTIONS_MAX = 2;

/** Opens the database of the environment for a command. @throws {CommandError} when no database is configured. */
export async function withDatabase(
  { servers, dataDir }: CommandEnvironment,
  work: (db: Pool) => Promise<string>,
): Promise<string> {
  const { postgres } = findServers(["postgres"], servers, dataDir);
  const db = openPool({
    ...postgres,
    applicationName: "tracker command line",
    connectionsMax: CONNECTIONS_MAX,
  });
  try {
    await assertPostgresMigrated(db);
    return await work(db);
  } finally {
    await db.end();
  }
}
