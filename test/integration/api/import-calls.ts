import { z } from "zod";
import { callDescribed, type DescribedAnswer } from "../../system/described-answers.ts";
import { until } from "../../system/until.ts";
import type { ApiWorld, Tenant } from "./api-world.ts";

const Import = z.object({
  data: z.looseObject({
    id: z.int(),
    status: z.string(),
    message: z.string(),
    ended_at: z.string().nullable(),
    faults: z.array(z.object({ row: z.int(), field: z.string(), message: z.string() })).default([]),
  }),
});
export type SeenImport = z.infer<typeof Import>["data"];

type Asked = Readonly<Record<string, string>>;
type Caller = {
  readonly origin?: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
};

const ENDED_WITHIN_MS = 60_000;

/** Sends a file to be imported. Every answer is held to the OpenAPI document. */
export async function sendImport(
  world: ApiWorld,
  query: Asked,
  content: string,
  { origin = world.origin, key, headers }: Caller,
): Promise<DescribedAnswer> {
  return await callDescribed(`${origin}/api/v1`, {
    method: "POST",
    path: `/imports?${new URLSearchParams(query).toString()}`,
    key,
    headers,
    raw: content,
  });
}

export function importIn(answer: DescribedAnswer): SeenImport {
  return Import.parse(answer.body).data;
}

export async function importOf(
  world: ApiWorld,
  id: number,
  { origin = world.origin, key, headers }: Caller,
): Promise<SeenImport> {
  const path = `/imports/${id}`;
  return importIn(await callDescribed(`${origin}/api/v1`, { method: "GET", path, key, headers }));
}

/** The import once it has ended. */
export async function untilEnded(world: ApiWorld, id: number, caller: Caller): Promise<SeenImport> {
  return await until(
    `import ${id} has ended`,
    async () => {
      const found = await importOf(world, id, caller);
      return found.ended_at === null ? undefined : found;
    },
    { timeoutMs: ENDED_WITHIN_MS, pollMs: 50 },
  );
}

/** Sends a file, and waits for the end of its import. @throws if it is refused */
export async function imported(
  world: ApiWorld,
  of: Tenant,
  query: Asked,
  content: string,
): Promise<SeenImport> {
  const key = of.keys.admin;
  const answer = await sendImport(world, query, content, { key });
  if (answer.status !== 202) throw new Error(`not imported: ${answer.status} ${answer.text}`);
  return await untilEnded(world, importIn(answer).id, { key });
}

/** Different names of partners, and partners. */
export async function partnersOf(
  world: Pick<ApiWorld, "pool">,
  { workspaceId }: Tenant,
): Promise<{ readonly names: number; readonly found: number }> {
  const { rows } = await world.pool.query<{ names: number; found: number }>({
    text: "select count(distinct name) as names, count(*) as found from affiliate where workspace_id = $1",
    values: [workspaceId],
  });
  return rows[0] ?? { names: 0, found: 0 };
}

/** What is stored of imports and their files. */
export async function storedOf(
  world: ApiWorld,
  { workspaceId }: Tenant,
): Promise<{ readonly imports: number; readonly parts: number }> {
  const { rows } = await world.pool.query<{ imports: number; parts: number }>({
    text: `select count(distinct i.id) as imports, count(p.number) as parts
           from import i left join import_part p on p.import_id = i.id where i.workspace_id = $1`,
    values: [workspaceId],
  });
  return rows[0] ?? { imports: 0, parts: 0 };
}

/**
 * A file of {@link ROWS_HELD} partners whose import stands still in the middle: some rows are written, and the row "Held" waits in its transaction until
 * `letGo`. A row "Slow" takes longer than a transaction may, so that it is the last one of its transaction.
 */
export class HeldImport {
  readonly #world: Pick<ApiWorld, "pool">;

  private constructor(world: Pick<ApiWorld, "pool">) {
    this.#world = world;
  }

  static async prepare(world: Pick<ApiWorld, "pool">): Promise<HeldImport> {
    for (const text of SLOW_ROWS) await world.pool.query({ text });
    return new HeldImport(world);
  }

  /** Names of the rows. They differ between tenants. */
  async rows({ slug }: Pick<Tenant, "slug">): Promise<string[]> {
    await this.#world.pool.query({ text: "insert into held values (1)" });
    const names = Array.from({ length: ROWS_HELD }, (_, index) => `${slug} ${index}`);
    names.splice(10, 3, `${slug} Slow`, `${slug} Held`, `${slug} Slow too`);
    return names;
  }

  async untilSomeAreWritten(of: Tenant): Promise<void> {
    await until("rows are written", async () => (await partnersOf(this.#world, of)).found > 1, {
      timeoutMs: 60_000,
      pollMs: 10,
    });
  }

  async letGo(): Promise<void> {
    await this.#world.pool.query({ text: "delete from held" });
  }
}

export const ROWS_HELD = 20;
const SLOW_ROWS = [
  "create table held (one integer)",
  `create function slow_row() returns trigger language plpgsql as $$
   begin
     if new.name like '% Slow%' then perform pg_sleep(0.25); end if;
     while new.name like '% Held' and exists (select from held) loop perform pg_sleep(0.01); end loop;
     return new;
   end $$`,
  "create trigger a_slow before insert on affiliate for each row execute function slow_row()",
];
