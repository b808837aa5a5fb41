import { Metrics } from "../../../schemas/host/metrics.ts";
import { type DeliveryOptions, deliveryLane } from "../../services/lanes.ts";
import { until } from "../../system/until.ts";
import { verifyWebhook, type WebhookDocument } from "../../system/verify-webhook.ts";
import {
  type ClickOptions,
  type OfferSettings,
  TrackingWorld,
} from "../conversions/tracking-world.ts";
import { type Received, type Receiver, startReceiver } from "../outgoing/receiver.ts";

export type DeliveryRow = {
  readonly id: string;
  readonly endpoint_id: number;
  readonly trigger: string;
  readonly status: string;
  readonly attempts: number;
  readonly url: string;
  readonly error: string;
  readonly response_status: number | null;
  readonly response_body: string;
  readonly due_at: string | null;
};

export const WEBHOOK_SECRET = `whsec_${"0123456789abcdef".repeat(3)}`;
const SOON_MS = 10_000;

/** A TrackingWorld whose conversions are told to a partner's server on this machine by the delivery lane. */
export class DeliveryWorld {
  readonly tracking: TrackingWorld;
  readonly receiver: Receiver;
  /** The metrics of the lane started last. */
  metrics = new Metrics();
  readonly #lanes: { close(): Promise<void> }[] = [];

  private constructor(tracking: TrackingWorld, receiver: Receiver) {
    this.tracking = tracking;
    this.receiver = receiver;
  }

  static async open(): Promise<DeliveryWorld> {
    return new DeliveryWorld(await TrackingWorld.open(), await startReceiver());
  }

  startLane(options: Omit<DeliveryOptions, "metrics"> = {}): void {
    this.metrics = new Metrics();
    this.#lanes.push(deliveryLane(this.tracking, { ...options, metrics: this.metrics }));
  }

  async stopLanes(): Promise<void> {
    await Promise.all(this.#lanes.splice(0).map((lane) => lane.close()));
  }

  /** The receiver, where nothing but this path arrives. */
  url(path: string): string {
    return `http://127.0.0.1:${this.receiver.port}/${path}`;
  }

  async addPostback(offerId: number, fields: OfferSettings = {}): Promise<number> {
    return await this.tracking.insert("postback", {
      workspace_id: this.tracking.workspaceId,
      offer_id: offerId,
      affiliate_id: this.tracking.affiliateId,
      url: this.url(`o${offerId}`),
      ...fields,
    });
  }

  /** A webhook at `path`, of the workspace unless `fields` name another. */
  async addWebhook(path: string, fields: OfferSettings = {}): Promise<number> {
    return await this.tracking.insert("webhook", {
      workspace_id: this.tracking.workspaceId,
      name: path,
      url: this.url(path),
      events: ["conversion.created", "conversion.updated"],
      secret: WEBHOOK_SECRET,
      ...fields,
    });
  }

  /** What arrived at a webhook, once it is so many documents; each is verified. */
  async told(path: string, count: number): Promise<WebhookDocument[]> {
    const requests = await until(
      `${count} documents have arrived at ${path}`,
      () => this.arrived(path).length >= count && this.arrived(path),
      { timeoutMs: SOON_MS, pollMs: 20 },
    );
    return requests.map((request) => verifyWebhook(request, WEBHOOK_SECRET));
  }

  /** A click on the offer and a report of it; answers the conversion's id. */
  async convert(
    offerId: number,
    params: Record<string, string> = {},
    click: ClickOptions = {},
  ): Promise<string> {
    const { click_id } = await this.tracking.addClick({ offer_id: offerId, ...click });
    const { body } = await this.tracking.report({ click_id, ...params });
    return String(body["conversion_id"]);
  }

  /** What staff does with PATCH /conversions/{id}. */
  async setStatus(id: string, status: "approved" | "pending" | "rejected"): Promise<void> {
    await this.tracking.command({
      kind: "set-status",
      workspaceId: this.tracking.workspaceId,
      keyId: 1,
      nowMs: Date.now(),
      ids: [id],
      bulk: false,
      status,
      reason: "manual",
      notes: null,
    });
  }

  async deliveries(conversionId: string): Promise<DeliveryRow[]> {
    return await this.tracking.rows<DeliveryRow>(
      `select id, endpoint_id, trigger, status, attempts, url, error, response_status, response_body, due_at
       from delivery where conversion_id = $1 order by created_at, endpoint_id`,
      [conversionId],
    );
  }

  /** The deliveries of a conversion once all of them have ended. */
  async settled(conversionId: string): Promise<DeliveryRow[]> {
    return await until(
      "every delivery of the conversion has ended",
      async () => {
        const rows = await this.deliveries(conversionId);
        return rows.length > 0 && rows.every(({ due_at }) => due_at === null) && rows;
      },
      { timeoutMs: SOON_MS, pollMs: 20 },
    );
  }

  /** What arrived under a path. */
  arrived(path: string): Received[] {
    return this.receiver.received.filter(({ target }) =>
      new RegExp(`^/${path}(?:[/?]|$)`).test(target),
    );
  }

  async close(): Promise<void> {
    await this.stopLanes();
    await this.receiver.close();
    await this.tracking.close();
  }
}
