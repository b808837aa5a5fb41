import { hostname } from "node:os";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A number that no journal of this installation has had. */
export async function allocateProducer(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: "allocate-producer",
    text: "insert into ingress_producer (host) values ($1) returning id",
    values: [hostname()],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("Postgres gave no producer number");
  return row.id;
}
