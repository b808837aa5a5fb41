import { spawnSync } from "node:child_process";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findKey, openPieces, SEAL_HEADER_BYTES } from "../../../deploy/backup/archive-seal.ts";
import { unknownEntries } from "../../../deploy/backup/data-dir-entries.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { runtimeDir } from "../../services/servers.ts";
import { CatalogLedger } from "../../system/catalog-ledger.ts";
import { ClickLoad } from "../../system/click-load.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { serversOf } from "../../system/servers-of.ts";
import { readDemo, ServiceClient } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";
import { KeptSignIns } from "./kept-sign-ins.ts";

vi.setConfig({ testTimeout: 180_000 });

const CLICKS = 300;
const CONVERSIONS = 20;
const PER_SECOND = 200;
const PASSPHRASE = "seven-lamps-on-a-quay";
const PATIENCE = { timeoutMs: 120_000, pollMs: 100 };

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracker-backup-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function restore(
  archive: string,
  target: string,
  {
    options = [],
    passphrase = "",
  }: { readonly options?: readonly string[]; readonly passphrase?: string } = {},
): Promise<{ readonly code: number; readonly output: string }> {
  return await trackerCommand(target, ["restore", archive, ...options], {
    RUNTIME_DIR: runtimeDir(),
    BACKUP_PASSPHRASE: passphrase,
  });
}

test("a sealed archive of a busy run restores every click, conversion and way to sign in, and reuses no id", async () => {
  const archive = join(folder, "whole.tar.gz");
  const passphraseFile = join(folder, "passphrase");
  await writeFile(passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
  const target = join(folder, "restored");
  await using system = await startSystem();
  const people = await KeptSignIns.make(system);
  const client = new ServiceClient(await readDemo(system.dataDir));
  const load = new ClickLoad(client.demo.links.affiliate.replace(/\?.*/, ""));
  const conversions = new ConversionLoad(client, load);
  const catalog = new CatalogLedger(client);
  load.start(4, PER_SECOND);
  conversions.start();
  await grow(load, conversions);
  await catalog.make(2);

  const clicks = [...load.answered.values()];
  const reports = [...conversions.answered.values()];
  const taken = await trackerCommand(system.dataDir, ["backup", archive], {
    BACKUP_PASSPHRASE_FILE: passphraseFile,
  });
  expect(taken, taken.output).toMatchObject({ code: 0 });
  expect(taken.output.trimEnd().split("\n").at(-1)).toMatch(
    /sealed: without the passphrase a thief/,
  );
  expect(unknownEntries(system.dataDir)).toEqual([]);
  expect((await stat(archive)).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).filter((name) => name.startsWith("whole"))).toEqual([
    "whole.tar.gz",
  ]);
  // The archive has none of these ids.
  await catalog.make(2);
  await grow(load, conversions);
  await conversions.stop();
  await load.stop();
  await system.stop();

  const options = ["--hold-deliveries"];
  const restored = await restore(archive, target, { options, passphrase: PASSPHRASE });
  expect(restored, restored.output).toMatchObject({ code: 0 });
  await using again = await startSystem({ dataDir: target, ports: system.ports });
  expect(await people.outcomes()).toEqual({ session: "200", code: "200", passkey: "200" });
  await catalog.make(2);
  expect(catalog.repeatedIds).toEqual([]);
  const urls = await serversOf(again);
  await until(
    "every click of the archive is stored",
    async () => (await missing(urls.clickhouse, load, clicks)).length === 0,
    PATIENCE,
  ).catch(() => undefined);
  expect(await missing(urls.clickhouse, load, clicks)).toEqual([]);
  const ids = (await storedClicks(urls.clickhouse, load.run)).map(({ click_id }) => click_id);
  expect(ids.length - new Set(ids).size).toBe(0);
  await until(
    "reports have the conversions of Postgres",
    async () => (await factDifferences(urls)).differences.length === 0,
    PATIENCE,
  ).catch(() => undefined);
  expect((await factDifferences(urls)).differences).toEqual([]);
  const known = await conversionIds(urls.postgres);
  expect(reports.filter(({ id }) => !known.includes(id))).toEqual([]);
  expect(new Set(known).size).toBe(known.length);
  // An id of a click from before the archive was made by this installation.
  expect(await reportOf(client, clicks[0] ?? "")).toContain('"ok":true');
  // Clicks and conversions go on, under keys and tokens of the archive.
  const later = new ClickLoad(client.demo.links.affiliate.replace(/\?.*/, ""));
  const laterReports = new ConversionLoad(client, later);
  later.start(2, PER_SECOND);
  laterReports.start();
  await grow(later, laterReports);
  await laterReports.stop();
  await later.stop();
  await client.close();
  const released = await trackerCommand(target, ["deliveries", "release"]);
  expect(released.output).toContain("are sent from now on");
  const refused = await restore(archive, target, { passphrase: PASSPHRASE });
  expect(refused.output).toContain("is not empty");
});

test("a damaged, newer or unreleased archive, and a wrong passphrase, are refused: the folder stays empty", async () => {
  const target = join(folder, "untouched");
  for (const [passphrase, fault] of [
    ["", "The archive is sealed, and no passphrase is given"],
    ["eight-lamps-on-a-quay", "The passphrase does not open the archive"],
  ] as const) {
    const refused = await restore(join(folder, "whole.tar.gz"), target, { passphrase });
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining(fault)]);
    expect(await readdir(target)).toEqual([]);
  }
  const archive = join(folder, "plain.tar.gz");
  await unseal(join(folder, "whole.tar.gz"), archive);
  const bytes = await readFile(archive);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  await writeFile(join(folder, "flipped.tar.gz"), bytes);
  await writeFile(join(folder, "cut.tar.gz"), bytes.subarray(0, middle - 1));
  const parts = join(folder, "parts");
  await mkdir(parts);
  tar("-xzf", archive, "-C", parts);
  await writeFile(join(parts, "nats.password"), "another");
  tar("-czf", join(folder, "changed.tar.gz"), "-C", parts, ".");
  const manifest = await readFile(join(parts, "manifest.json"), "utf8");
  const others = {
    newer: manifest.replace(/"postgres": \d+/, '"postgres": 9999'),
    older: manifest.replace(/"format": \d+/, '"format": 1'),
  };
  for (const [name, text] of Object.entries(others)) {
    await writeFile(join(parts, "manifest.json"), text);
    tar("-czf", join(folder, `${name}.tar.gz`), "-C", parts, ".");
  }
  const faults: [string, RegExp][] = [
    ["flipped", /damaged|cannot be read/],
    ["cut", /damaged|cannot be read/],
    ["changed", /nats\.password differs from its manifest/],
    ["newer", /newer release/],
    ["older", /of a commit before the first release\. Nothing was changed\. Stay at 1ec7599a/],
  ];
  for (const [name, fault] of faults) {
    const refused = await restore(join(folder, `${name}.tar.gz`), target);
    expect(refused.code, refused.output).toBe(1);
    expect(refused.output).toMatch(fault);
    expect(await readdir(target)).toEqual([]);
  }
});

function tar(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("tar", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`tar ${args.join(" ")}: ${stderr}`);
}

async function unseal(sealed: string, plain: string): Promise<void> {
  const header = (await readFile(sealed)).subarray(0, SEAL_HEADER_BYTES);
  const key = await findKey(header, PASSPHRASE);
  const pieces = createReadStream(sealed, { start: SEAL_HEADER_BYTES });
  await pipeline(pieces, openPieces(key), createWriteStream(plain));
}

/** The answer to a conversion of a click. */
async function reportOf(client: ServiceClient, clickId: string): Promise<string> {
  const { tracking_url, postback_token: token } = client.demo;
  const query = new URLSearchParams({ token, click_id: clickId, txid: "after", amount: "1.5" });
  return (await client.attempt(`${tracking_url}/pb?${query}`)).body;
}

/** Clicks of the load that are not stored exactly once. */
async function missing(
  clickhouseUrl: string,
  load: ClickLoad,
  clicks: readonly string[],
): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const { click_id: id } of await storedClicks(clickhouseUrl, load.run)) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return clicks.filter((id) => counts.get(id) !== 1);
}

async function conversionIds(postgresUrl: string): Promise<string[]> {
  const pool = openPool({ url: postgresUrl, applicationName: "test" });
  try {
    const { rows } = await pool.query<{ id: string }>({
      text: "select id::text as id from conversion",
    });
    return rows.map(({ id }) => id);
  } finally {
    await pool.end();
  }
}

async function grow(load: ClickLoad, conversions: ConversionLoad): Promise<void> {
  const [clicks, reports] = [load.answered.size, conversions.answered.size];
  await until(
    "more clicks and conversions are answered",
    () =>
      load.answered.size >= clicks + CLICKS && conversions.answered.size >= reports + CONVERSIONS,
    PATIENCE,
  );
}
