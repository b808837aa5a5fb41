import type { Queryable } from "../../schemas/postgres/connect.ts";

/** The webhook of a delivery, in its current state. */
export type WebhookSource = {
  readonly delivery_id: string;
  /** Name of the event that the delivery reports. */
  readonly event: string;
  readonly url: string;
  readonly secret: string;
  readonly active: boolean;
};

/** Sources by delivery id. A delivery whose webhook was deleted is missing. */
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
