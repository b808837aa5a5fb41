import { hostname } from "node:os";
import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE } from "../../schemas/postgres/errors.ts";

/** A producer number for a journal folder. `lastEpoch`: no earlier holder used an epoch above it; 0 for a new number. */
export type FolderNumber = { readonly producer: number; readonly lastEpoch: number };

export type AllocateNumber = (claim: string, options: NumberOptions) => Promise<FolderNumber>;

type NumberOptions = {
  /** Numbers of folders that are on this machine. */
  readonly besides: readonly number[];
};

/**
 * Numbers are given out again once this many of the 65,535 have been. The others are a reserve for epochs that must be moved to a number that
 * nobody had, and for the time until a number is proven free. Most installations never get here.
 */
const REUSED_FROM = 50_000;

const Row = z.object({ producer: z.int(), lastEpoch: z.int() });

/**
 * Returns a number for the folder with this claim: a number that no journal has had, or, when such numbers run low, the number that is free
 * for longest. A free number is checked again, because its holder may have returned since. A process that dies after this has used the
 * number up.
 */
export const allocateFolderNumber =
  (db: Queryable): AllocateNumber =>
  async (claim, { besides }) => {
    // After a restore, a running process may have registered its number again. It is skipped: the next attempt gets the next one.
    const { rows } = await orNoneIsLeft(
      async () =>
        await db.query({
          name: "allocate-folder-number",
          text: `with reused as (
                 update ingress_producer set host = $1, nonce = $2, run = null, run_epoch = null, run_at = null,
                   contested_at = null, given_up_at = null, given_up_from_ms = null, quiet_since = null, free_at = null
                 where id = (
                   select p.id from ingress_producer p
                   where p.free_at is not null and p.quiet_since is not null and is_producer_quiet(p)
                     and p.id <> all ($3::integer[])
                     and (select last_value from ingress_producer_id_seq) >= $4
                   order by p.free_at, p.id limit 1 for update skip locked)
                 returning id, free_above),
               fresh as (
                 insert into ingress_producer (host, nonce) select $1, $2 where not exists (select from reused)
                 on conflict (id) do nothing returning id)
               select id as producer, free_above as "lastEpoch" from reused
               union all select id, 0 from fresh`,
          values: [hostname(), claim, besides, REUSED_FROM],
        }),
    );
    const [row] = z.array(Row).parse(rows);
    if (row === undefined) throw new Error("the next producer number is taken: ask again");
    return row;
  };

/** Returns a number that no journal of this installation has had. A number that is given out again may have had any epoch. */
export async function allocateProducer(db: Queryable, claim: string): Promise<number> {
  const { rows } = await orNoneIsLeft(
    async () =>
      await db.query<{ id: number }>({
        name: "allocate-producer",
        text: "insert into ingress_producer (host, nonce) values ($1, $2) on conflict (id) do nothing returning id",
        values: [hostname(), claim],
      }),
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the next producer number is taken: ask again");
  return row.id;
}

async function orNoneIsLeft<T>(allocate: () => Promise<T>): Promise<T> {
  try {
    return await allocate();
  } catch (error) {
    if (postgresCode(error) !== SQLSTATE.sequenceAtEnd) throw error;
    throw new Error(
      "all 65,535 producer numbers were given out and none is free: `tracker producer free` finds those that can be given out again",
      { cause: error },
    );
  }
}
