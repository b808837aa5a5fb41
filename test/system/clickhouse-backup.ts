import { cp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import type { OwnServer } from "./own-server.ts";

/** Copies the database to another folder, as `BACKUP DATABASE` of the page does. */
export async function backUpClickhouse(server: OwnServer, name: string): Promise<void> {
  await command(server, `backup database tracker to File('${name}')`);
  await cp(join(server.folder, "backups", name), join(server.dataDir, name), { recursive: true });
}

/** Restores into an empty server, as on a new machine. */
export async function restoreClickhouse(server: OwnServer, name: string): Promise<void> {
  await server.kill();
  await rm(server.folder, { recursive: true });
  await server.start();
  await restoreClickhouseFrom(server, join(server.dataDir, name));
}

/** Restores the backup in a folder. The server is empty. */
export async function restoreClickhouseFrom(server: OwnServer, folder: string): Promise<void> {
  const name = basename(folder);
  await cp(folder, join(server.folder, "backups", name), { recursive: true });
  await command(server, `restore database tracker from File('${name}')`);
}

async function command({ url }: OwnServer, query: string): Promise<void> {
  const clickhouse = openClickhouse({ url, applicationName: "test", requestTimeoutMs: 120_000 });
  try {
    await clickhouse.command({ query });
  } finally {
    await clickhouse.close();
  }
}
