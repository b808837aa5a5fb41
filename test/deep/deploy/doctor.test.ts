import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { StrictServers } from "../../system/strict-servers.ts";
import { trackerCommand } from "../../system/tracker-command.ts";

const Lines = z.array(
  z.object({ state: z.enum(["ok", "warn", "refuse"]), subject: z.string(), text: z.string() }),
);
type Lines = z.infer<typeof Lines>;

const strict = await forThisFile(StrictServers.open());
const dataDir = join(strict.dataDir, "doctor");
await mkdir(join(dataDir, "journal"), { recursive: true });
const migrated = await trackerCommand(dataDir, ["migrate"], strict.env);
if (migrated.code !== 0) throw new Error(migrated.output);

async function doctor(
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly lines: Lines }> {
  const { code, output } = await trackerCommand(dataDir, ["doctor", "--strict", "--json"], {
    ...strict.env,
    ...env,
  });
  return { code, lines: Lines.parse(JSON.parse(output)) };
}

test("a sound system has no line that refuses, and every check has a line (P35)", async () => {
  const { code, lines } = await doctor();
  expect(lines.filter(({ state }) => state === "refuse")).toEqual([]);
  expect(code).toBe(0);
  const subjects = new Set(lines.map(({ subject }) => subject));
  const checks = ["N1", "N2", "N3", "P1", "P2", "P3", "C1", "C2", "C3", "J1", "I1"];
  for (const subject of [...checks, "Postgres clock", "disk", "secrets", "TLS"])
    expect(subjects).toContain(subject);
});

test("planted faults are each named by a line of their own, and the exit code is 1 (P35)", async () => {
  const secret = join(dataDir, "postgres.password");
  await writeFile(secret, "hush");
  await chmod(secret, 0o644);
  await strict.setPostgres("fsync = off");
  const { code, lines } = await doctor({ STRICT_STANDBYS: "1", STRICT_SINGLE_SITE: "0" });
  await strict.setPostgres("");
  await chmod(secret, 0o600);
  expect(code).toBe(1);
  const refused = lines.filter(({ state }) => state === "refuse");
  expect(refused.map(({ subject }) => subject).sort()).toEqual(["N2", "P1", "P3", "secrets"]);
  expect(JSON.stringify(lines)).not.toContain("hush");
});

test("a server that does not answer is a line, not a hang (P35)", async () => {
  const away = "nats://127.0.0.1:9";
  const { code, lines } = await doctor({ NATS_URL: away, NATS_SYS_URL: away });
  expect(code).toBe(1);
  const refused = lines.filter(({ state }) => state === "refuse");
  expect(refused.map(({ subject }) => subject)).toEqual(["N1", "N2", "N3"]);
  for (const { text } of refused) expect(text).toContain("NATS at 127.0.0.1:9 does not answer");
});
