import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { openPool, type Pool, type Queryable } from "../../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../../schemas/postgres/migrate.ts";
import {
  backUpPostgres,
  createPostgresDatabase,
  dropPostgresDatabase,
  restorePostgres,
} from "../../services/fresh-database.ts";
import { type FollowedCatalog, followCatalog } from "../../services/lanes.ts";

export type Follower = FollowedCatalog & {
  /** Value of a metric without labels. */
  readonly metric: (name: string) => number;
  /** Has everything applied that was committed before; false while Postgres does not answer. */
  readonly refresh: () => Promise<boolean>;
};

/** A database with the set-up of one workspace, its backups, and followers of it. */
export class FeedWorld {
  readonly url: string;
  pool: Pool;
  readonly folder: string;
  readonly #backups: string[] = [];
  readonly #followers: Follower[] = [];

  private constructor(url: string, folder: string) {
    this.url = url;
    this.folder = folder;
    this.pool = poolOf(url);
  }

  /** On the server of the run, if no other is given. */
  static async open(serverUrl = inject("postgresUrl")): Promise<FeedWorld> {
    const url = new URL(serverUrl);
    url.pathname = `/catalog_test_${randomBytes(5).toString("hex")}`;
    await createPostgresDatabase(serverUrl, url.pathname.slice(1));
    const world = new FeedWorld(
      url.toString(),
      await mkdtemp(join(tmpdir(), "tracker-catalog-test-")),
    );
    await migratePostgres(world.pool);
    await world.change(SEED);
    return world;
  }

  /** Statements in one transaction each. */
  async change(...statements: readonly string[]): Promise<void> {
    // The first statement on a connection that a restore has ended fails.
    await this.pool.query({ text: "select 1" }).catch(() => undefined);
    await changeIn(this.pool, statements);
  }

  async backUp(): Promise<string> {
    const backup = await backUpPostgres(this.url);
    this.#backups.push(backup);
    return backup;
  }

  /** `changes` are committed before anybody can read what was restored. */
  async restore(backup: string, ...changes: readonly string[]): Promise<void> {
    const pool = poolOf(backup);
    await changeIn(pool, changes);
    await pool.end();
    await restorePostgres(this.url, backup);
  }

  /** A process that starts: from the copy at `copy`, if it is there. */
  async follow(copy?: string, db: Queryable = this.pool): Promise<Follower> {
    const metrics = new Metrics();
    const copyPath = copy === undefined ? {} : { copyPath: this.copyPath(copy) };
    const { catalog, feed } = await followCatalog(db, { metrics, ...copyPath });
    const metric = (name: string): number =>
      Number(new RegExp(`^tracker_${name} (.+)$`, "m").exec(metrics.render())?.[1]);
    // The first statement on a connection that the restore has ended fails; the next one opens another.
    const refresh = async (): Promise<boolean> => (await feed.refresh()) || (await feed.refresh());
    const follower = { catalog, feed, metric, refresh };
    this.#followers.push(follower);
    return follower;
  }

  copyPath(copy: string): string {
    return join(this.folder, copy);
  }

  async close(): Promise<void> {
    for (const { feed } of this.#followers) await feed.close();
    await this.pool.end();
    for (const url of [this.url, ...this.#backups])
      await dropPostgresDatabase(adminUrl(this.url), new URL(url).pathname.slice(1));
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Destinations of offers by code, and the partners that have access: what of a catalog the changes of these tests are about. */
export function contentOf(catalog: Catalog): Record<string, string> {
  const offers = [...catalog.offers.values()].map(
    ({ id, code, destination_url }) =>
      [code, `${destination_url} ${catalog.accessOf(id, 1)?.status ?? "-"}`] as const,
  );
  return Object.fromEntries(offers.toSorted(([a], [b]) => a.localeCompare(b)));
}

function poolOf(url: string): Pool {
  return openPool({ url, applicationName: "test", connectionsMax: 2 });
}

function adminUrl(url: string): string {
  return Object.assign(new URL(url), { pathname: "/postgres" }).toString();
}

async function changeIn(pool: Pool, statements: readonly string[]): Promise<void> {
  for (const text of statements) await pool.query({ text });
}

export function offer(code: string, destination: string): string {
  return `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency)
          values (1, 1, '${code}', '${code}', 'https://shop.example/${destination}', 'USD')`;
}

export function pointTo(code: string, destination: string): string {
  return `update offer set destination_url = 'https://shop.example/${destination}' where code = '${code}'`;
}

const SEED = `
  insert into workspace (slug, name, postback_token) values ('main', 'Main', 'ws-token');
  insert into advertiser (workspace_id, name, currency, postback_token) values (1, 'Shop', 'USD', 'adv-token');
  insert into affiliate (workspace_id, code, name, currency) values (1, 'PART01', 'Part', 'USD');
  ${offer("A", "a")}; ${offer("B", "b")};
  insert into offer_access (offer_id, affiliate_id, status) values (1, 1, 'approved'), (2, 1, 'pending')`;
