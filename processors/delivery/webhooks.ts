import type { Queryable } from "../../schemas/postgres/connect.ts";

/** The webhook of a delivery, as it is now. */
export type WebhookSource = {
  readonly delivery_id: string;
  /** Name of the event that is told. */
  readonly event: string;
  readonly url: string;
  readonly secret: string;
  readonly active: boolean;
};

/** By delivery; those whose webhook is gone are missing. */
export async function readWebhookSources(
  db: Queryable,
  deliveryIds: readonly string[],
): Promise<ReadonlyMap<string, WebhookSource>> {
  const { rows } = await db.query<WebhookSource>({
    name: "read-webhook-sources",
    text: `select d.id as delivery_id, d.event, w.url, w.secret, w.active
           from delivery d join webhook w on w.id = d.endpoint_id
           where d.id = any($1::uuid[])`,
    values: [deliveryIds],
  });
  return new Map(rows.map((row) => [row.delivery_id, row]));
}
