import { readFile, writeFile } from "node:fs/promises";
import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { isClickhouseAway } from "../../schemas/clickhouse/errors.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { resetClone } from "./clone-reset.ts";
import type { Command, CommandEnvironment } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import {
  adoptIdentity,
  fingerprintOf,
  parseIdentity,
  readIdentity,
  refuseConnectedProcesses,
} from "./identity.ts";
import { findServers } from "./servers.ts";

const PRIVATE_FILE = 0o600;
/** For statements that read or change every row of a table. */
const REQUEST_TIMEOUT_MS = 900_000;

const exportIdentity: Command = {
  name: "installation export",
  summary: "id, secret and lanes of the installation, for a safe place",
  options: {
    file: { value: "F", summary: "writes them to this new file, readable only by its owner" },
  },
  examples: ["installation export --file /media/safe/installation.json"],
  notes: `Without the secret every living click id counts as made up. Whoever has it can
make click ids that count as real: keep it as you keep a password.`,
  run: async (given, environment, terminal) =>
    await withDatabase(environment, async (db) => {
      const identity = await readIdentity(db, Date.now());
      const text = `${JSON.stringify(identity, null, 2)}\n`;
      const file = given.text("file");
      if (file === undefined) {
        terminal.report(
          "Warning: the next lines contain the secret of the installation. Keep them out of logs, or use --file.",
        );
        return text.trimEnd();
      }
      await writeNewFile(file, text);
      return `Written to ${file}: secret ${fingerprintOf(identity.secret)}…, lanes ${identity.lanes.join(", ")}.`;
    }),
};

async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: PRIVATE_FILE, flag: "wx" });
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${file} was not written: ${fault}`, { cause: error });
  }
}

const importIdentity: Command = {
  name: "installation import",
  operand: { name: "FILE", summary: "of `installation export`" },
  summary: "gives a new installation the secret and lanes of a lost one",
  options: {},
  examples: ["installation import /media/safe/installation.json"],
  notes: `Click ids of the lost installation are genuine then. Only for an installation
without clicks and conversions, while no process runs. Safe to repeat.`,
  run: async (given, environment) => {
    const identity = parseIdentity(await readText(given.operand));
    return await withStores(environment, async (db, clickhouse) => {
      await refuseConnectedProcesses(db);
      const isNew = await adoptIdentity(db, clickhouse, identity);
      const secret = `${fingerprintOf(identity.secret)}…`;
      return isNew
        ? `The installation has the secret ${secret} and the lanes of the file. Start the processes.`
        : `Nothing to change: the installation already has the secret ${secret} and these lanes.`;
    });
  },
};

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new CommandError(`The file cannot be read: ${fault}`, { cause: error });
  }
}

const CLONE_EFFECTS = `It gives Postgres and ClickHouse a new incarnation, pauses every postback and webhook,
cancels waiting deliveries, drops imports that have not ended, revokes every API key, and replaces the
tokens of workspaces and advertisers and the secrets of webhooks.`;

const cloneReset: Command = {
  name: "clone-reset",
  summary: "makes a copy of an installation independent of the original",
  options: {
    yes: { summary: "required: this cannot be undone" },
  },
  examples: ["clone-reset --yes"],
  notes: `For a copy of Postgres and ClickHouse that is used for tests. ${CLONE_EFFECTS}
The secret of click ids stays: stored clicks and erasures need it. Run it while no
process of the copy runs. It refuses a ClickHouse that another Postgres uses.
Afterwards set NATS_PREFIX as it prints, run \`migrate\`, and create keys with
\`key create\`. Never copy journal folders.`,
  run: async (given, environment) => {
    if (!given.has("yes")) {
      throw new CommandError(
        `Nothing was changed. ${CLONE_EFFECTS}\nIf these are the stores of a copy, run it again with --yes.`,
      );
    }
    return await withStores(environment, async (db, clickhouse) => {
      await refuseConnectedProcesses(db);
      const reset = await resetClone(db, clickhouse);
      return [
        `Incarnation: ${reset.incarnation} in Postgres and ClickHouse.`,
        `Paused: ${reset.postbacks} postbacks, ${reset.webhooks} webhooks. Cancelled: ${reset.deliveries} deliveries, ${reset.imports} imports.`,
        `Revoked: ${reset.keys} keys. Replaced: ${reset.tokens} tokens.`,
        `Every process and command of this installation needs NATS_PREFIX=${reset.natsPrefix}: change it, then run \`migrate\`.`,
      ].join("\n");
    });
  },
};

async function withStores(
  environment: CommandEnvironment,
  work: (db: Pool, clickhouse: Clickhouse) => Promise<string>,
): Promise<string> {
  const found = findServers(["clickhouse"], environment.servers, environment.dataDir);
  const clickhouse = openClickhouse({
    ...found.clickhouse,
    applicationName: "tracker command line",
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  try {
    return await withDatabase(environment, async (db) => await work(db, clickhouse));
  } catch (error) {
    if (!isClickhouseAway(error)) throw error;
    const fault = error instanceof Error ? error.message : String(error);
    throw new CommandError(`ClickHouse does not answer (${fault}). Run it again when it is back.`, {
      cause: error,
    });
  } finally {
    await clickhouse.close();
  }
}

export const identityCommands: readonly Command[] = [exportIdentity, importIdentity, cloneReset];
