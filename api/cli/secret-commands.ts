import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { readHeartbeats } from "../../schemas/installation/heartbeat.ts";
import { askProcesses } from "../../schemas/installation/process-status.ts";
import { connectNats } from "../../schemas/nats/connect.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { countByKey, resealAll } from "../../schemas/secrets/sealed-columns.ts";
import { newSecretKey, SecretKeys, withNewKey } from "../../schemas/secrets/secret-keys.ts";
import { aliveOf } from "../workspace/system/status/ask-operations-ports.ts";
import type { Command, CommandEnvironment } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { noteInAllWorkspaces } from "./note-in-all-workspaces.ts";
import { findServers } from "./servers.ts";

/** A live api that still seals with an older key leaves values behind. */
const PASSES_MAX = 3;
/** Who may read, write and run a file, without its kind. */
const MODE_BITS = 0o777;

const newKey: Command = {
  name: "secrets new-key",
  summary: "prints a line for SECRETS_KEY, to be kept where other secrets are kept",
  options: {},
  examples: ["secrets new-key > /etc/tracker/secrets/secrets-key"],
  run: async () => await Promise.resolve(newSecretKey()),
};

const rotate: Command = {
  name: "secrets rotate",
  summary: "adds a key to SECRETS_KEY_FILE and seals everything under it",
  options: {},
  examples: ["secrets rotate"],
  notes:
    "Runs beside the service. When it was interrupted, run it again: it goes on, and adds no further key. Where it cannot write\n" +
    "the file, add a line of `secrets new-key` to every copy: first as the last line, then, once every api has it, as the first.",
  run: async (_given, environment, terminal) =>
    await withDatabase(environment, async (db) => {
      const sentence = await newFirstKey(db, environment);
      const keys = new SecretKeys(environment.secretKeys.read);
      await needEveryApi(db, environment, keys);
      let resealed = 0;
      let unopened = 0;
      for (let pass = 0; pass < PASSES_MAX; pass += 1) {
        const done = await resealAll(db, keys, (batch) =>
          terminal.report(`${resealed + batch.resealed} values are sealed anew`),
        );
        resealed += done.resealed;
        ({ unopened } = done);
        if (done.resealed === 0) break;
      }
      await noteInAllWorkspaces(db, "cli secrets rotate");
      const left = await countByKey(db);
      const unused = keys.ids.slice(1).filter((id) => !left.has(id));
      if (unopened > 0) terminal.markFailed?.();
      return [
        sentence,
        `${resealed} values were sealed anew under ${keys.sealingId ?? ""}.`,
        ...(unopened === 0
          ? []
          : [
              `${unopened} values cannot be opened: put the missing key back, then run this again. See \`tracker doctor\`.`,
            ]),
        unused.length === 0
          ? "No key can be removed."
          : `No value needs ${unused.join(", ")}: remove ${unused.length === 1 ? "its line" : "their lines"} once no backup that you keep needs it.`,
      ].join("\n");
    }),
};

/**
 * Adds a key unless a rotation waits to be finished. Two commands at once wait for each other: the second finds values of an older key.
 * @throws {CommandError} where this cannot write the ring.
 */
async function newFirstKey(
  db: Pool,
  { secretKeys: { read, file } }: CommandEnvironment,
): Promise<string> {
  return await inTransaction(db, async (tx) => {
    await tx.query({
      name: "lock-secrets-rotate",
      text: "select pg_advisory_xact_lock(hashtext('tracker secrets rotate'))",
    });
    const text = read() ?? "";
    const { ids } = new SecretKeys(() => text);
    const counts = await countByKey(tx);
    if (ids.slice(1).some((id) => counts.has(id)))
      return `An earlier rotation to ${ids[0] ?? ""} is finished.`;
    if (ids.length === 0)
      throw new CommandError(
        "There is no key: name its file with SECRETS_KEY_FILE, or start the service once.",
      );
    if (counts.size > 0 && !ids.some((id) => counts.has(id)))
      throw new CommandError(
        `This ring opens no value: they are sealed under ${[...counts.keys()].join(", ")}. Put the line of that key back, or name the right file with SECRETS_KEY_FILE. Nothing was changed.`,
      );
    if (file === undefined)
      throw new CommandError(
        "SECRETS_KEY is a variable, which this cannot change: put a line of `secrets new-key` before the others, restart the api, and run this again.",
      );
    const ring = withNewKey(text);
    replaceFile(file, ring);
    return `${new SecretKeys(() => ring).sealingId ?? ""} is a new key, the first one of ${file}.`;
  });
}

/**
 * On the disk before anything is sealed under it. The new file has the owner and the mode of the old one, so that whoever reads it still may. A
 * draft that a killed command has left is replaced.
 * @throws {CommandError} with the old file as it was.
 */
function replaceFile(file: string, text: string): void {
  const draft = `${file}.new`;
  try {
    rmSync(draft, { force: true });
    const { uid, gid, mode } = statSync(file);
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      writeSync(descriptor, text);
      fchownSync(descriptor, uid, gid);
      fchmodSync(descriptor, mode & MODE_BITS);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
    const folder = openSync(dirname(file), "r");
    fsyncSync(folder);
    closeSync(folder);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `${file} cannot be replaced (${fault}). Nothing was sealed anew. Run this as a user who may write its folder, or put a line of \`secrets new-key\` before the others, restart the api, and run this again.`,
      { cause: error },
    );
  }
}

/** An api without the new key could not open what is sealed under it. @throws {CommandError} */
async function needEveryApi(
  db: Pool,
  { servers, dataDir, natsSpace }: CommandEnvironment,
  { sealingId = "" }: SecretKeys,
): Promise<void> {
  const alive = aliveOf(await readHeartbeats(db)).filter(({ role }) => role === "api");
  if (alive.length === 0) return;
  const { nats: server } = findServers(["nats"], servers, dataDir);
  const nats = await connectNats({ ...server, ...natsSpace, name: "tracker secrets rotate" });
  try {
    const answers = await askProcesses(nats, new Set(alive.map(({ id }) => id)));
    const knowing = new Set(
      answers
        .filter(({ secret_keys: ids }) => String(ids).split(" ").includes(sealingId))
        .map(({ process_id: id }) => id),
    );
    const without = alive.filter(({ id }) => !knowing.has(id));
    if (without.length === 0) return;
    const named = without.map(({ name, host }) => `${name} on ${host}`).join(", ");
    throw new CommandError(
      `${named} does not have ${sealingId} yet: give it the new SECRETS_KEY_FILE, restart it, and run this again. Nothing was sealed anew.`,
    );
  } finally {
    await nats.connection.close();
  }
}

export const secretCommands: readonly Command[] = [newKey, rotate];
