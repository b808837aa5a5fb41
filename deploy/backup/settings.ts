import { readSettings } from "../../schemas/host/read-settings.ts";
import { type LauncherSettings, readLauncherSettings } from "../local/settings.ts";

export type BackupSettings = LauncherSettings & {
  /** Seals and opens archives. */
  readonly passphrase: string | undefined;
  /** The operator gives CONSOLE_SECRET, so that the one in DATA_DIR seals nothing. */
  readonly givesConsoleSecret: boolean;
};

/** The settings of `npm start`, which a backup and a restore run beside or start. @throws {SettingsError} */
export function readBackupSettings(
  environment: Readonly<Record<string, string | undefined>>,
): BackupSettings {
  const given = (name: string): boolean => (environment[name] ?? "") !== "";
  return {
    ...readLauncherSettings(environment),
    passphrase: readSettings("tracker", environment).BACKUP_PASSPHRASE,
    givesConsoleSecret: given("CONSOLE_SECRET") || given("CONSOLE_SECRET_FILE"),
  };
}
