import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { projectFile } from "../../schemas/host/project-root.ts";
import {
  BACKED_UP_STORES,
  noteBackup,
  readBackupAges,
} from "../../schemas/installation/backup-notes.ts";
import type { Command, CommandArguments } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";

const FAILED = "The command did not succeed: see the lines above.";

const ARCHIVE = {
  name: "ARCHIVE",
  summary: "the file, such as /media/safe/tracker.tar.gz",
} as const;

const backup: Command = {
  name: "backup",
  operand: ARCHIVE,
  summary: "one archive of a running `npm start`",
  options: {},
  examples: ["backup /media/safe/tracker-2026-11-23.tar.gz"],
  notes: `While \`npm start\` runs and answers. The archive contains Postgres, ClickHouse,
journals, passwords and secrets: it is readable only by you, and has its name
only when it is whole. Everything that was answered before the command started
is in it. BACKUP_PASSPHRASE_FILE names a file with a passphrase that seals it.
The last line says what the archive would give to a thief.
Servers of your own: see deploy/pages/backup.md.`,
  run: async (given) => await runProgram(["backup", given.operand]),
};

const restore: Command = {
  name: "restore",
  operand: ARCHIVE,
  summary: "restores an archive of `backup` into an empty DATA_DIR",
  options: {
    "hold-deliveries": { summary: "no postback or webhook is sent until `deliveries release`" },
  },
  examples: ["restore /media/safe/tracker-2026-11-23.tar.gz"],
  notes: `Start it afterwards with \`npm start\`. A sealed archive needs the passphrase of
its backup (BACKUP_PASSPHRASE_FILE). Refuses a folder that is not empty, a
damaged archive, and one of a newer release. Deliveries that were sent after the
backup are due again: hold them to compare them with your partners' logs first.
Never start the original again: the two would send the same postbacks.`,
  run: async (given) => {
    const held = given.has("hold-deliveries") ? ["--hold-deliveries"] : [];
    return await runProgram(["restore", given.operand, ...held]);
  },
};

/** The program is a part of the one-machine run, which has the programs of the servers. It reads the settings of `npm start` itself. */
async function runProgram(args: readonly string[]): Promise<string> {
  const program = projectFile(".build", "deploy", "backup", "main.js");
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (child.exitCode !== 0) throw new CommandError(FAILED);
  return output.trimEnd();
}

const note: Command = {
  name: "backup note",
  summary: "notes a backup that another tool made, for the metric backup_age_seconds",
  options: {
    store: { value: BACKED_UP_STORES.join("|"), summary: "default: both" },
    at: { value: "TIME", summary: "such as 2026-11-23T02:00:00Z; default: now" },
  },
  examples: ["backup note --store clickhouse"],
  notes: "Run it as the last step of a script that backs up a server of your own.",
  run: async (given, environment) => {
    const stores = storesOf(given);
    const at = timeOf(given);
    return await withDatabase(environment, async (db) => {
      await noteBackup(db, stores, at);
      const ages = await readBackupAges(db);
      return BACKED_UP_STORES.map((store) => {
        const seconds = ages.get(store);
        return `${store}: ${seconds === undefined ? "never" : `${Math.max(0, Math.round(seconds))} s ago`}`;
      }).join("\n");
    });
  },
};

function storesOf(given: CommandArguments): readonly (typeof BACKED_UP_STORES)[number][] {
  const asked = given.text("store");
  if (asked === undefined) return BACKED_UP_STORES;
  const known = BACKED_UP_STORES.find((store) => store === asked);
  if (known === undefined)
    throw new UsageError(`--store ${asked} is not one of ${BACKED_UP_STORES.join(", ")}.`);
  return [known];
}

function timeOf(given: CommandArguments): Date {
  const asked = given.text("at");
  const at = asked === undefined ? new Date() : new Date(asked);
  if (Number.isNaN(at.getTime())) throw new UsageError(`--at ${asked ?? ""} is not a time.`);
  if (at.getTime() > Date.now() + 60_000) throw new UsageError("--at is in the future.");
  return at;
}

export const backupCommands: readonly Command[] = [backup, restore, note];
