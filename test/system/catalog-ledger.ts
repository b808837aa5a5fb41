import { z } from "zod";
import type { ServiceClient } from "./service.ts";
import { until } from "./until.ts";

const Made = z.object({ data: z.object({ id: z.int() }) });
const Offers = z.object({
  data: z.array(z.object({ id: z.int(), code: z.string(), advertiser_id: z.int() })),
});
const AdCosts = z.object({ data: z.array(z.object({ id: z.int(), ext_campaign_id: z.string() })) });
const KINDS = ["/affiliates", "/offers", "/ad-costs"] as const;
type Kind = (typeof KINDS)[number];
const DAY = "2026-01-15";
const CURRENCY = "USD";

/** Makes and changes records by the API, and checks their ids and that ingress applies the changes. */
export class CatalogLedger {
  /** One sentence for each id that was given twice. */
  readonly repeatedIds: string[] = [];
  /** How many records were made. */
  made = 0;
  readonly #ids = new Map<Kind, Set<number>>(KINDS.map((kind) => [kind, new Set()]));
  readonly #client: ServiceClient;
  #changes = 0;

  constructor(client: ServiceClient) {
    this.#client = client;
  }

  /** Makes `count` partners, offers and ad costs each. */
  async make(count: number): Promise<void> {
    const { advertiser_id } = await this.#demoOffer();
    for (let number = 0; number < count; number += 1) {
      const code = `${Date.now().toString(36).slice(-6)}${this.made}`.toUpperCase();
      await this.#create("/affiliates", { code, name: code });
      await this.#create("/offers", {
        code,
        name: code,
        advertiser_id,
        currency: CURRENCY,
        destination_url: "https://shop.example/",
        payout_type: "cpa",
        payout: "1.0000",
        revenue_type: "rpa",
        revenue: "2.0000",
      });
      await this.#addCost(code);
    }
  }

  /** Changes the destination of the demo's offer. Returns how many ms after the answer every link redirects there. */
  async untilApplied(links: readonly string[]): Promise<number> {
    const { id } = await this.#demoOffer();
    this.#changes += 1;
    const destination = `https://shop.example/change-${this.#changes}`;
    await untilAccepted(() =>
      this.#client.send("PATCH", `/offers/${id}`, { destination_url: destination }),
    );
    const sinceMs = performance.now();
    for (const link of links) {
      await until(
        `the change applies to ${link}`,
        async () => {
          const answer = await this.#client.attempt(link);
          return String(answer.headers["location"]).startsWith(destination);
        },
        { timeoutMs: 60_000, pollMs: 20 },
      );
    }
    return Math.round(performance.now() - sinceMs);
  }

  async #demoOffer(): Promise<{ id: number; advertiser_id: number }> {
    const { data } = Offers.parse(await this.#client.rest("/offers?limit=100&q=DEMOSHOP"));
    const offer = data.find(({ code }) => code === "DEMOSHOP");
    if (offer === undefined) throw new Error("the demo has no offer DEMOSHOP");
    return offer;
  }

  async #create(kind: Kind, body: object): Promise<void> {
    const answer = await untilAccepted(() => this.#client.create(kind, body));
    this.#note(kind, Made.parse(answer).data.id);
  }

  async #addCost(campaign: string): Promise<void> {
    const row = { date: DAY, currency: CURRENCY, ext_campaign_id: campaign, amount: "1.0000" };
    const named = { ...row, traffic_source: campaign };
    await untilAccepted(() => this.#client.create("/ad-costs", { rows: [named] }));
    const { data } = AdCosts.parse(await this.#client.rest(`/ad-costs?traffic_source=${campaign}`));
    for (const { id } of data) this.#note("/ad-costs", id);
  }

  #note(kind: Kind, id: number): void {
    this.made += 1;
    const ids = this.#ids.get(kind);
    if (ids?.has(id) === true) this.repeatedIds.push(`${kind}: id ${id} was given twice`);
    ids?.add(id);
  }
}

/** Repeats a write during an outage. Each write names its own record, so a second one would be refused. */
async function untilAccepted(send: () => Promise<unknown>): Promise<unknown> {
  const accepted = await until(
    "the API accepts a change",
    async () =>
      await send().then(
        (answer) => ({ answer }),
        (error: unknown) =>
          error instanceof Error && /HTTP 4/.test(error.message) ? { error } : undefined,
      ),
    { timeoutMs: 60_000, pollMs: 200 },
  );
  if ("error" in accepted) throw accepted.error;
  return accepted.answer;
}
