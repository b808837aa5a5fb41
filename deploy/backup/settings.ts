import { readSettings } from "../../schemas/host/read-settings.ts";

export type BackupSettings = {
  /** Seals and opens archives. */
  readonly passphrase: string | undefined;
  /** The operator gives CONSOLE_SECRET, so that the secret in DATA_DIR may seal nothing. */
  readonly givesConsoleSecret: boolean;
  /** The same of SECRETS_KEY. */
  readonly givesSecretsKey: boolean;
};

/** The settings of the archive itself. @throws {SettingsError} */
export function readBackupSettings(
  environment: Readonly<Record<string, string | undefined>>,
): BackupSettings {
  const given = (name: string): boolean => (environment[name] ?? "") !== "";
  const read = readSettings("tracker", environment);
  return {
    passphrase: read.BACKUP_PASSPHRASE,
    givesConsoleSecret: given("CONSOLE_SECRET") || given("CONSOLE_SECRET_FILE"),
    givesSecretsKey: given("SECRETS_KEY") || given("SECRETS_KEY_FILE"),
  };
}
