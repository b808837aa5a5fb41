import { hostname } from "node:os";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Returns a number that no journal of this installation has had, for the folder with this claim. */
export async function allocateProducer(db: Queryable, claim: string): Promise<number> {
  // After a restore, a running process may have registered its number again. It is skipped: the next attempt gets the next one.
  const { rows } = await db.query<{ id: number }>({
    name: "allocate-producer",
    text: "insert into ingress_producer (host, nonce) values ($1, $2) on conflict (id) do nothing returning id",
    values: [hostname(), claim],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the next producer number is taken: ask again");
  return row.id;
}
