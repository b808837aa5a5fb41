import { Readable } from "node:stream";
import { z } from "zod";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { Producers } from "./producers.ts";

const Claim = z.object({ producer: z.int(), epoch: z.int(), nonce: z.string() });

/** Reads which start each epoch belongs to. An entry in the table wins over a claim that was heard but not written yet. */
export async function loadClaims(
  clickhouse: Clickhouse,
  lane: number,
  producers: Producers,
): Promise<void> {
  const answer = await clickhouse.query({
    query: `select producer, epoch, argMin(nonce, claimed_at) as nonce from producer_claim
      where lane = {lane: UInt8} group by producer, epoch`,
    query_params: { lane },
    format: "JSONEachRow",
  });
  for (const { producer, epoch, nonce } of z.array(Claim).parse(await answer.json())) {
    producers.restoreClaim(producers.get(producer, epoch), nonce);
  }
}

/**
 * Writes new claims. Must come before the first row of an epoch and before the acknowledgement of its messages: a writer that reads the
 * stream again must assign each epoch to the same start. Fails, like every insert of a lane, if the lane has a newer writer than
 * `epoch` (P10).
 */
export async function noteClaims(
  clickhouse: Clickhouse,
  at: { readonly lane: number; readonly epoch: number },
  producers: Producers,
): Promise<void> {
  const claims = [...producers.unwrittenClaims];
  if (claims.length === 0) return;
  const rows = claims.map(({ producer, epoch, nonce }) =>
    JSON.stringify({ producer, epoch, nonce }),
  );
  const result = await clickhouse.exec({
    query: `insert into producer_claim (lane, producer, epoch, nonce)
      select ${at.lane}, producer, epoch, nonce
      from input('producer UInt16, epoch UInt32, nonce String')
      where throwIf((select max(epoch) from lane_fence where lane = ${at.lane}) > ${at.epoch}) = 0
      format JSONEachRow`,
    values: Readable.from([Buffer.from(`${rows.join("\n")}\n`)], { objectMode: false }),
    clickhouse_settings: { async_insert: 0 },
  });
  for await (const chunk of result.stream) void chunk;
  for (const claim of claims) producers.unwrittenClaims.delete(claim);
}
