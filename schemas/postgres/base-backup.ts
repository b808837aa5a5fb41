import { once } from "node:events";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import pg from "pg";

/** First byte of each message of the copy. */
const NEW_ARCHIVE = 0x6e;
const DATA = 0x64;
const CONNECT_TIMEOUT_MS = 10_000;
const PRIVATE_FILE = 0o600;
/** Keeps the write-ahead log that the copy needs, until the connection ends. */
const KEEP_LOG = "CREATE_REPLICATION_SLOT tracker_backup TEMPORARY PHYSICAL (RESERVE_WAL true)";
const COPY = "BASE_BACKUP (LABEL 'tracker backup', CHECKPOINT 'fast', WAL true, MANIFEST 'no')";

type Connection = {
  query(text: string): void;
  readonly stream: { pause(): void; resume(): void };
};

/**
 * Copies a running Postgres (15 or newer) into a new tar file, as `pg_basebackup --wal-method=fetch` does: by the server's own command, with
 * the write-ahead log that makes the copy consistent. The copy has every transaction that was committed before this was called. `url` names a
 * role with the right REPLICATION. @throws what the server and the disk report; the file is then incomplete.
 */
export async function copyPostgres(url: string, file: string, signal: AbortSignal): Promise<void> {
  const settings: pg.ClientConfig & { readonly replication: string } = {
    connectionString: url,
    application_name: "tracker backup",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Not in the types of the driver: it passes the value on as a startup parameter.
    replication: "true",
  };
  const client = new pg.Client(settings);
  const failed = once(client, "error").then(([error]) => {
    throw error instanceof Error ? error : new Error(String(error));
  });
  failed.catch(() => undefined);
  const stop = (): void => void client.end();
  await client.connect();
  signal.addEventListener("abort", stop, { once: true });
  const target = openSync(file, "wx", PRIVATE_FILE);
  try {
    await Promise.race([client.query(KEEP_LOG), failed]);
    const copy = new BaseCopy(target);
    client.query(copy);
    await Promise.race([copy.done, failed]);
    signal.throwIfAborted();
    fsyncSync(target);
  } finally {
    signal.removeEventListener("abort", stop);
    closeSync(target);
    await client.end();
  }
}

/** A query of the driver whose answer is a copy. It writes each message before it reads the next, so its memory is bounded. */
class BaseCopy {
  readonly done: Promise<void>;
  readonly #target: number;
  #archives = 0;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(target: number) {
    this.#target = target;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: Connection): void {
    connection.query(COPY);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    try {
      if (chunk[0] === NEW_ARCHIVE) this.#archives += 1;
      // Further archives are tablespaces, which an embedded server has not.
      if (this.#archives > 1) throw new Error("Postgres has tablespaces outside of its folder");
      if (chunk[0] === DATA) writeAll(this.#target, chunk.subarray(1));
    } catch (error) {
      this.#reject(error);
    }
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve();
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
}

function writeAll(target: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(target, bytes, at);
}
