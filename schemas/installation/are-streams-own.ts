import type { Nats } from "../nats/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { readPostgresMark } from "./store-marks.ts";
import { StreamMarks } from "./stream-marks.ts";
import { findTwin } from "./twin.ts";

/**
 * Whether the streams have the incarnation of this Postgres, or none yet, and no process on a copy of this Postgres reads them. Undefined
 * while Postgres or JetStream does not answer. Never rejects.
 */
export async function areStreamsOwn(db: Queryable, nats: Nats): Promise<boolean | undefined> {
  const [streamed, own] = await Promise.all([
    new StreamMarks(() => nats).read(),
    // Postgres is away: whoever needs it logs that.
    readPostgresMark(db).catch(() => undefined),
  ]);
  if (streamed.is !== "known" || own === undefined) return undefined;
  const { ofStreams } = streamed;
  const isOther = ofStreams.some(
    (mark) => mark !== undefined && mark.incarnation !== own.incarnation,
  );
  if (isOther) return false;
  return (await findTwin(nats, own)) === undefined;
}
