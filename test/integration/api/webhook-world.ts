import { until } from "../../system/until.ts";
import { verifyWebhook, type WebhookDocument } from "../../system/verify-webhook.ts";
import { type Received, type Receiver, startReceiver } from "../outgoing/receiver.ts";
import { type Answer, ApiWorld, type Json, list, record, type Tenant } from "./api-world.ts";

/** A webhook with its secret, as creation answered it. */
export type Hook = {
  readonly id: number | string;
  readonly name: string;
  readonly url: string;
  readonly secret: string;
};

export const PUBLIC_URL = "https://hooks.shop.example/tracker";
const SOON = { timeoutMs: 90_000, pollMs: 20 };

/** An ApiWorld with both lanes at work, and a receiver of webhooks on this machine. */
export class WebhookWorld {
  readonly api: ApiWorld;
  readonly receiver: Receiver;
  readonly foreign: Tenant;
  /** The origin of the process that lets webhooks lead to this machine. */
  readonly loopback: string;

  private constructor(api: ApiWorld, receiver: Receiver, others: [Tenant, string]) {
    this.api = api;
    this.receiver = receiver;
    [this.foreign, this.loopback] = others;
  }

  static async open(): Promise<WebhookWorld> {
    const api = await ApiWorld.open();
    const loopback = await api.startAnother({ allowLoopback: true });
    await api.startProcessor();
    api.startDeliveries();
    return new WebhookWorld(api, await startReceiver(), [await api.addTenant("foreign"), loopback]);
  }

  /** No webhook, and a receiver that takes everything. */
  async reset(): Promise<void> {
    this.receiver.answer((response) => void response.end());
    await this.api.pool.query({ text: "delete from webhook" });
  }

  async create(fields: Json = {}, key = this.api.tenant.keys.admin): Promise<Answer> {
    const body = { name: "Hook", url: PUBLIC_URL, events: ["conversion.created"], ...fields };
    return await this.api.post("/webhooks", body, key);
  }

  /** A webhook at a path of the receiver. */
  async listen(path: string, events: readonly string[], fields: Json = {}): Promise<Hook> {
    const url = `http://127.0.0.1:${this.receiver.port}/${path}`;
    const body = { name: path, url, events, ...fields };
    const made = record(await this.api.callAt(this.loopback, "POST", "/webhooks", { body }));
    return { id: made.id, name: path, url, secret: String(made["secret"]) };
  }

  /** The requests of a webhook, once there are so many. */
  async arrived({ name }: Hook, count: number): Promise<Received[]> {
    const at = () => this.receiver.received.filter(({ target }) => target === `/${name}`);
    const what = `${count} requests at ${name}`;
    return await until(what, () => at().length >= count && at(), SOON);
  }

  /** The request of that number, from 1. */
  async request(hook: Hook, number: number): Promise<Received> {
    const request = (await this.arrived(hook, number))[number - 1];
    if (request === undefined) throw new Error(`no request ${number}`);
    return request;
  }

  /** The documents of a webhook, once there are so many; each is verified. */
  async told(hook: Hook, count: number): Promise<WebhookDocument[]> {
    return (await this.arrived(hook, count)).map((request) => verifyWebhook(request, hook.secret));
  }

  async deliveries({ id }: Hook, query = ""): Promise<(Json & { id: number | string })[]> {
    return list(await this.api.get(`/webhooks/${id}/deliveries${query}`));
  }

  /** The log of a webhook once so many deliveries have this status. */
  async untilDeliveries(hook: Hook, status: string, count: number): Promise<void> {
    const what = `${count} deliveries are ${status}`;
    const found = async () => (await this.deliveries(hook, `?status=${status}`)).length;
    await until(what, async () => (await found()) === count, SOON);
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.receiver.close();
  }
}
