import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import type { Log } from "../../../schemas/host/log.ts";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { ErasedAddress } from "../erasure/erased-clicks.ts";
import { type Intake, passedKey } from "../intake/intake.ts";
import type { Segment } from "../rows/batch.ts";

const LOOK_MS = 1_000;
/**
 * Clicks and erasures older than this are not loaded. If such a click still arrives, a later repeat of the erasure clears it. The stream
 * keeps clicks for 3 days.
 */
const HORIZON_DAYS = 35;
/** Limit for one lane's memory; about 100 bytes each. */
const CLICKS_MAX = 500_000;
const ADDRESSES_MAX = 10_000;
/** Bytes searched for an address in one turn of the event loop: 5 to 10 ms. */
const BYTES_PER_TURN = 500_000;

const Found = z.object({
  /** By the clock of Postgres, UTC ms. */
  now_ms: z.int(),
  /** Key of the hashes. */
  key: z.string(),
  /** `<click ID> <workspace ID>`. */
  clicks: z.array(z.string()),
  addresses: z.array(
    z.object({ id: z.int(), workspaceId: z.int(), atMs: z.int(), hashes: z.array(z.string()) }),
  ),
  passed: z.array(z.object({ click_id: z.string(), producer: z.int() })),
});

/**
 * Loads new erasures for a lane within seconds, and the coupon clicks that it must drop. The lane clears erased data in its memory and in
 * everything that it reads from then on.
 */
export class ErasureWatch {
  readonly #db: Queryable;
  readonly #intake: Intake;
  readonly #log: Log;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /**
   * Rows that were added before this time are known; by the clock of Postgres, UTC ms. Each read starts one minute earlier, because a row
   * is visible only after its statement has ended, which takes at most 12 s.
   */
  #readToMs = 0;

  constructor(db: Queryable, intake: Intake, log: Log) {
    this.#db = db;
    this.#intake = intake;
    this.#log = log;
  }

  /** Must be called before anything is read or written. Throws what Postgres throws. */
  async load(): Promise<void> {
    const found = await this.#read();
    const intake = this.#intake;
    const ofLane = (id: string): boolean => clickIdParts(id).shard === intake.lane;
    for (const { click_id: id, producer } of found.passed)
      if (ofLane(id)) intake.passedOn.add(passedKey(id, producer));
    const { addresses } = found;
    const clicks = found.clicks.filter(ofLane).map((text) => {
      const [id = "", workspaceId = ""] = text.split(" ");
      return { id, workspaceId: Number(workspaceId) };
    });
    // From here on, new lines come in clean. The lines in memory are cleaned next.
    const fresh = intake.erased.add({ clicks, addresses }, found.key);
    this.#readToMs = found.now_ms;
    intake.young.eraseClicks(
      fresh.clicks.map(({ id }) => id),
      intake.erased,
    );
    if (fresh.addresses.length > 0) await this.#eraseAddresses(fresh.addresses);
    const counts = { clicks: fresh.clicks.length, addresses: fresh.addresses.length };
    if (counts.clicks + counts.addresses > 0) this.#log.info(counts, "clicks.erasures-known");
  }

  /** Loads again, at most once a second; a failure delays it. Must be called only while nothing is being inserted. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#lookedAtMs < LOOK_MS) return;
    this.#lookedAtMs = performance.now();
    try {
      await this.load();
    } catch (error) {
      // Until the next attempt rows are stored unchanged, and a repeat of the erasure clears them.
      this.#log.warn({ err: error }, "clicks.erasures-not-read");
    }
  }

  /**
   * Reads the rows added since the last call, in one statement. Selects clicks by age through the time at the start of their id. `least` is
   * for a clock of Postgres that went back.
   */
  async #read(): Promise<z.infer<typeof Found>> {
    const { rows } = await this.#db.query({
      name: "read-erasures",
      text: `with since as (
               select least(to_timestamp($1::bigint / 1000.0), clock_timestamp()) - interval '1 minute' as at,
                 clock_timestamp() - $2::integer * interval '1 day' as horizon)
             select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms, erasure_key() as key,
               array(select c.click_id || ' ' || e.workspace_id
                     from erased_click c join erasure e on e.id = c.erasure_id, since s
                     where c.added_at > s.at
                       and c.click_id >= lpad(to_hex((extract(epoch from s.horizon) * 1000)::bigint), 12, '0')
                     order by c.added_at desc limit $3) as clicks,
               coalesce((select jsonb_agg(to_jsonb(a)) from (
                 select e.id, e.workspace_id as "workspaceId", (extract(epoch from e.at) * 1000)::bigint as "atMs",
                   e.subject as hashes
                 from erasure e, since s where e.kind = 'ip' and e.at > greatest(s.at, s.horizon)
                 order by e.at desc limit $4) a), '[]') as addresses,
               coalesce((select jsonb_agg(to_jsonb(p)) from (
                 select p.click_id, p.producer from coupon_click_passed p, since s
                 where p.added_at > s.at order by p.added_at desc limit $3) p), '[]') as passed`,
      values: [this.#readToMs, HORIZON_DAYS, CLICKS_MAX, ADDRESSES_MAX],
    });
    const found = Found.parse(rows[0]);
    if (found.clicks.length === CLICKS_MAX || found.addresses.length === ADDRESSES_MAX)
      this.#log.warn({ clicks: CLICKS_MAX, addresses: ADDRESSES_MAX }, "clicks.erasures-cut");
    return found;
  }

  /** Cleans the rows that are in memory now; later rows come in clean. */
  async #eraseAddresses(addresses: readonly ErasedAddress[]): Promise<void> {
    const untilMs = Math.max(...addresses.map(({ atMs }) => atMs));
    const { young, erased } = this.#intake;
    let [together, bytes]: [Segment[], number] = [[], 0];
    for (const segment of [...young.segments()].filter(({ fromMs }) => fromMs <= untilMs)) {
      together.push(segment);
      bytes += segment.bytes.length;
      if (bytes < BYTES_PER_TURN) continue;
      young.eraseIn(together, erased);
      [together, bytes] = [[], 0];
      await turn();
    }
    young.eraseIn(together, erased);
  }
}
