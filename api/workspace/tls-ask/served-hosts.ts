import { isIP } from "node:net";
import { canonicalHost } from "../../../schemas/catalog/tracking-host.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";

/** A new domain gets its certificate this long after it was added, at most. */
const POLL_MS = 1_000;
/** The list is read again this often even if nothing seems to have changed: Postgres may have been restored. */
const READ_AGAIN_MS = 60_000;
/** About 100 MB. */
const HOSTS_MAX = 1_000_000;

/**
 * The host names for which this installation may ask for a certificate: active tracking domains, and its own addresses. It is a
 * copy in memory that is at most a second old. While Postgres is away, the last copy stays in use.
 */
export class ServedHosts {
  readonly #db: Queryable;
  readonly #log: Log;
  readonly #own: ReadonlySet<string>;
  #hosts: ReadonlySet<string> | undefined;
  #newest = "";
  #readAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #isClosed = false;

  private constructor(db: Queryable, own: readonly string[], log: Log) {
    this.#db = db;
    this.#log = log;
    // No authority gives a certificate for an address.
    this.#own = new Set(own.map(nameIn).filter((name) => isIP(name) === 0));
  }

  /** `own`: URLs of the installation itself. Returns at once; the first list follows. */
  static start(db: Queryable, own: readonly string[], log: Log): ServedHosts {
    const hosts = new ServedHosts(db, own, log);
    hosts.#poll();
    return hosts;
  }

  /** Undefined until the list was read once: then nobody knows. */
  serves(host: string): boolean | undefined {
    const name = withoutPort(canonicalHost(host));
    if (this.#own.has(name)) return true;
    return this.#hosts?.has(name);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #poll(): void {
    void this.#refresh().finally(() => {
      if (!this.#isClosed) this.#timer = setTimeout(() => this.#poll(), POLL_MS);
    });
  }

  async #refresh(): Promise<void> {
    try {
      const newest = await newestChange(this.#db);
      const isOld = performance.now() - this.#readAtMs > READ_AGAIN_MS;
      if (this.#hosts === undefined || newest !== this.#newest || isOld) {
        this.#hosts = await activeHosts(this.#db);
        this.#newest = newest;
        this.#readAtMs = performance.now();
        if (this.#hosts.size >= HOSTS_MAX)
          this.#log.error({ hosts: HOSTS_MAX }, "tls-ask.more-domains-than-it-can-hold");
      }
      if (this.#isFailing) this.#log.info("tls-ask.list-is-read-again");
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#log.warn({ err: error }, "tls-ask.list-not-read");
      this.#isFailing = true;
    }
  }
}

/** Changes with every change of a tracking domain, and with nothing else. */
async function newestChange(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ changed: string; removed: string }>({
    name: "newest-change-of-tracking-domains",
    text: `select coalesce((select max(version) from tracking_domain), 0)::text as changed,
             coalesce((select max(version) from catalog_tombstone where kind = 'tracking_domain'), 0)::text as removed`,
    values: [],
  });
  return `${rows[0]?.changed ?? ""} ${rows[0]?.removed ?? ""}`;
}

async function activeHosts(db: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ host: string }>({
    name: "active-tracking-hosts",
    text: "select host from tracking_domain where status = 'active' limit $1",
    values: [HOSTS_MAX],
  });
  return new Set(rows.map(({ host }) => withoutPort(canonicalHost(host))));
}

/** An IPv6 address stands in brackets. */
function nameIn(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/** A certificate is for a name; links may have a port after it. */
function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}
