/** `tracker backup` and `tracker restore` of a one-machine installation: `main.js backup|restore ARCHIVE [--hold-deliveries]`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT_WRONG_SETTINGS, SettingsError } from "../../schemas/host/read-settings.ts";
import { SECRETS_KEY_NAME } from "../../schemas/secrets/secret-keys.ts";
import { takeDataDir } from "../local/launch.ts";
import { LaunchError, type Report, terminalReport } from "../local/report.ts";
import { type LauncherSettings, readLauncherSettings } from "../local/settings.ts";
import { isEmptyDataDir } from "./backup-folders.ts";
import { restoreBackup } from "./restore-backup.ts";
import { type BackupSettings, readBackupSettings } from "./settings.ts";
import { takeBackup } from "./take-backup.ts";
import { worthToThief } from "./worth-to-thief.ts";

const EXIT_FAILED = 1;

type Settings = LauncherSettings & BackupSettings;

async function main(args: readonly string[]): Promise<number> {
  const report = terminalReport({
    write: (text) => void process.stderr.write(text),
    colours: process.stderr.isTTY,
  });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => stop.abort(new LaunchError(`ended by ${signal}`)));
  }
  try {
    // The one-machine run, beside which a backup and a restore work, has settings of its own.
    const settings = { ...readLauncherSettings(), ...readBackupSettings(process.env) };
    refuseOwnServers(settings);
    // The servers and commands of a restore inherit the environment.
    delete process.env["BACKUP_PASSPHRASE"];
    const [what, archive = "", ...options] = args;
    const line =
      what === "backup"
        ? await backup(settings, { archive, report, signal: stop.signal })
        : await restore(settings, { archive, options, report, signal: stop.signal });
    process.stdout.write(`${line}\n`);
    return 0;
  } catch (error) {
    if (error instanceof SettingsError) {
      process.stderr.write(`${error.message}\n`);
      return EXIT_WRONG_SETTINGS;
    }
    // The drivers and the disk report faults that a person can correct, too: a full disk, a server that ends.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT_FAILED;
  }
}

type Run = { readonly archive: string; readonly report: Report; readonly signal: AbortSignal };

async function backup(settings: Settings, run: Run): Promise<string> {
  const { dataDir, passphrase, givesConsoleSecret, givesSecretsKey } = settings;
  const file = join(dataDir, "servers.json");
  const running = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const archive = await takeBackup({ dataDir, running, passphrase, ...run });
  const hasConsoleSecret = existsSync(join(dataDir, "console.secret"));
  const lines = [`${archive} is written.`];
  if (givesConsoleSecret || !hasConsoleSecret) {
    lines.push(
      "The CONSOLE_SECRET that you set is not in the archive. Keep it as well: a restore needs it for second factors.",
    );
  }
  const hasSecretsKey = existsSync(join(dataDir, SECRETS_KEY_NAME));
  if (givesSecretsKey || !hasSecretsKey) {
    lines.push(
      "The SECRETS_KEY that you set is not in the archive. Keep it as well: a restore needs it for payment details.",
    );
  }
  lines.push(worthToThief({ isSealed: passphrase !== undefined, hasConsoleSecret, hasSecretsKey }));
  return lines.join("\n");
}

async function restore(
  settings: Settings,
  { options, ...run }: Run & { readonly options: readonly string[] },
): Promise<string> {
  const { dataDir, passphrase } = settings;
  if (!existsSync(run.archive)) throw new LaunchError(`${run.archive} is not there.`);
  if (!isEmptyDataDir(dataDir)) {
    throw new LaunchError(
      `DATA_DIR ${dataDir} is not empty. Restore into a new folder: name it with DATA_DIR.`,
    );
  }
  const release = takeDataDir(settings);
  try {
    const { began_at: beganAt } = await restoreBackup({
      settings,
      passphrase,
      ...run,
      holdDeliveries: options.includes("--hold-deliveries"),
      environment: process.env,
    });
    return `${dataDir} is restored as of ${beganAt}. Start it with DATA_DIR=${dataDir} npm start.`;
  } finally {
    release();
  }
}

function refuseOwnServers({ servers }: LauncherSettings): void {
  if (Object.values(servers).every((server) => server === undefined)) return;
  throw new LaunchError(
    "POSTGRES_URL, NATS_URL or CLICKHOUSE_URL is set: servers of your own are backed up and restored by their own tools. " +
      "See deploy/pages/backup.md.",
  );
}

process.exitCode = await main(process.argv.slice(2));
