import { readdirSync } from "node:fs";
import { CLICKHOUSE, CLUSTER, JOURNAL, RESTORING } from "./backup-folders.ts";

/** What an archive has of an entry of DATA_DIR, or why a restore needs nothing of it. */
type Entry =
  | { readonly kind: "file" }
  | { readonly kind: "store"; readonly as: string }
  | { readonly kind: "left out"; readonly why: string };

const FILE = { kind: "file" } as const;

/** Everything that `npm start` and the processes write into the first level of DATA_DIR. */
export const DATA_DIR_ENTRIES: Readonly<Record<string, Entry>> = {
  "installation.json": FILE,
  "demo.json": FILE,
  // Without it the month of sample traffic would begin anew, and its clicks would count twice.
  "demo-traffic.json": FILE,
  "console.json": FILE,
  "console.secret": FILE,
  "secrets.key": FILE,
  "postgres.password": FILE,
  "postgres-backup.password": FILE,
  "clickhouse.password": FILE,
  "clickhouse-reports.password": FILE,
  "nats.password": FILE,
  "nats-system.password": FILE,
  postgres: { kind: "store", as: CLUSTER },
  clickhouse: { kind: "store", as: CLICKHOUSE },
  journal: { kind: "store", as: JOURNAL },
  nats: { kind: "left out", why: "the journals and the stores fill JetStream again" },
  processors: { kind: "left out", why: "a copy of the catalog, which Postgres has" },
  "servers.json": { kind: "left out", why: "each start writes it" },
  "ports.json": { kind: "left out", why: "the next start picks free ports" },
  logs: { kind: "left out", why: "no process reads them" },
  run: { kind: "left out", why: "the processes that run now" },
  "launcher.lock": { kind: "left out", why: "the process that runs now" },
  runtime: { kind: "left out", why: "programs that are downloaded again" },
};

/** The files that an archive has under their own names. */
export const INSTALLATION_FILES: readonly string[] = Object.entries(DATA_DIR_ENTRIES)
  .filter(([, { kind }]) => kind === "file")
  .map(([name]) => name);

/** A file or folder that is renamed when it is whole: `<name>.new` or `<name>.<process id>`. */
const DRAFT = /\.(?:new|\d+)$/;

/** Entries of DATA_DIR that no archive has, because the table above does not name them. */
export function unknownEntries(dataDir: string): string[] {
  return readdirSync(dataDir).filter(
    (name) => name !== RESTORING && !Object.hasOwn(DATA_DIR_ENTRIES, name.replace(DRAFT, "")),
  );
}
