import { z } from "zod";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { pause, type ServiceClient } from "../../system/service.ts";

export type LaneOffer = { readonly id: number; readonly code: string };

/** A click that was answered. */
export type LaneClick = {
  readonly clickId: string;
  readonly offer: LaneOffer;
  readonly visitor: number;
  /** The ad ID, which no other click has. */
  readonly gclid: string;
};

const Made = z.object({ data: z.object({ id: z.int(), code: z.string() }) });
const Stored = z.array(
  z.object({
    click_id: z.string(),
    lane: z.int(),
    offer_id: z.int(),
    visitor: z.string(),
    is_unique: z.boolean(),
  }),
);
export type StoredLaneClick = z.infer<typeof Stored>[number];

/** Visitors who come again and again, to many offers. */
const VISITORS = 40;
const RETRY_MS = 50;

export async function makeOffers(client: ServiceClient, count: number): Promise<LaneOffer[]> {
  const offers: LaneOffer[] = [];
  for (let i = 0; i < count; i += 1) offers.push(await makeOffer(client, `lane-${i}`, {}));
  return offers;
}

export async function makeOffer(
  client: ServiceClient,
  name: string,
  more: object,
): Promise<LaneOffer> {
  const body = {
    name,
    advertiser_id: 1,
    destination_url: `https://${name}.example/?c={click_id}`,
    fallback_url: "https://fallback.example/",
    payout: "1",
    ...more,
  };
  return Made.parse(await client.create("/offers", body)).data;
}

/** Clicks of returning visitors on offers of all lanes. Keeps what was answered, and how many requests have an unknown outcome. */
export class LaneTraffic {
  readonly answered: LaneClick[] = [];
  /** Requests without an answer. Each may be recorded or not. */
  unknown = 0;
  /** Requests that were answered with a server error. */
  refused = 0;
  readonly #client: ServiceClient;
  readonly #offers: readonly LaneOffer[];
  readonly #random: () => number;
  readonly #run = `lane-${Math.random().toString(36).slice(2, 10)}`;
  #isRunning = true;
  #loops: Promise<void>[] = [];
  #sent = 0;

  constructor(client: ServiceClient, offers: readonly LaneOffer[], random: () => number) {
    this.#client = client;
    this.#offers = offers;
    this.#random = random;
  }

  start(loops: number, pauseMs: number): void {
    this.#loops = Array.from({ length: loops }, async () => {
      while (this.#isRunning) {
        const offer = this.#offers[Math.floor(this.#random() * this.#offers.length)];
        if (offer !== undefined) await this.click(offer, Math.floor(this.#random() * VISITORS));
        await pause(pauseMs);
      }
    });
    // `stop`, which every caller awaits, reports the error.
    for (const loop of this.#loops) loop.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#loops);
  }

  /** Returns where the visitor was sent; undefined without an answer. */
  async click(offer: LaneOffer, visitor: number): Promise<string | undefined> {
    const gclid = `${this.#run}-${this.#sent}`;
    this.#sent += 1;
    const link = `${this.#client.demo.tracking_url}/r/${offer.code}/DEMOANNA?gclid=${gclid}`;
    const headers = {
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0",
      "x-forwarded-for": `198.51.100.${visitor}`,
    };
    try {
      const { status, headers: answer } = await this.#client.attempt(link, headers);
      if (status === 302) {
        const clickId = /trk_cid=([0-9a-f]{32})/.exec(String(answer["set-cookie"]))?.[1] ?? "";
        this.answered.push({ clickId, offer, visitor, gclid });
        return String(answer["location"]);
      }
      this.refused += 1;
    } catch {
      // The process was killed before its answer was complete.
      this.unknown += 1;
    }
    await pause(RETRY_MS);
    return undefined;
  }
}

/** All stored clicks of these offers. */
export async function storedLaneClicks(
  clickhouseUrl: string,
  offers: readonly LaneOffer[],
): Promise<StoredLaneClick[]> {
  const clickhouse = openClickhouse({ url: clickhouseUrl, applicationName: "test" });
  try {
    const answer = await clickhouse.query({
      query: `select lower(hex(click_id)) as click_id, _lane as lane, offer_id, toString(visitor) as visitor, is_unique
        from click where offer_id in {offers: Array(UInt32)}`,
      query_params: { offers: offers.map(({ id }) => id) },
      format: "JSONEachRow",
    });
    return Stored.parse(await answer.json());
  } finally {
    await clickhouse.close();
  }
}

/** What is wrong with the stored clicks, a sentence each. */
export function laneFaults(
  { answered, unknown }: LaneTraffic,
  stored: readonly StoredLaneClick[],
): string[] {
  const copies = new Map<string, number>();
  const uniques = new Map<string, number>();
  for (const { click_id, offer_id, visitor, is_unique } of stored) {
    copies.set(click_id, (copies.get(click_id) ?? 0) + 1);
    const visit = `${offer_id}/${visitor}`;
    uniques.set(visit, (uniques.get(visit) ?? 0) + Number(is_unique));
  }
  const faults = answered
    .filter(({ clickId }) => copies.get(clickId) !== 1)
    .map(({ clickId }) => `click ${clickId} is stored ${copies.get(clickId) ?? 0} times`);
  for (const [visit, count] of uniques)
    if (count !== 1) faults.push(`visit ${visit} is unique ${count} times`);
  const strangers = stored.length - answered.length;
  if (strangers > unknown) faults.push(`${strangers} clicks more than were answered`);
  const lanes = stored.filter(
    ({ click_id: id, lane }) => Number.parseInt(id.slice(12, 14), 16) !== lane,
  );
  for (const { click_id, lane } of lanes)
    faults.push(`click ${click_id} is stored in lane ${lane}`);
  return faults;
}
