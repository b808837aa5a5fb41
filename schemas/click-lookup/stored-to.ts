import { z } from "zod";
import { readLanes } from "../installation/lane-count.ts";
import type { Nats } from "../nats/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { askWriter } from "./ask-writer.ts";

/** Until when ClickHouse has every answered click (UTC ms); undefined when a lane has no writer that knows. */
export async function readStoredToMs({
  db,
  nats,
}: {
  readonly db: Queryable;
  readonly nats: Nats | undefined;
}): Promise<number | undefined> {
  const { clicks: lanes } = await readLanes(db);
  const answers = await Promise.all(
    lanes.map(async (shard) => await askWriter(nats, { by: "stored", shard }, z.unknown())),
  );
  const storedToMs = Math.min(...answers.map((answer) => answer?.completeToMs ?? 0));
  return storedToMs > 0 ? storedToMs : undefined;
}
