import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A postback and the conversion that it reports, in their current state. Fields are named like their columns; money is text. */
export type PostbackSource = {
  readonly delivery_id: string;
  readonly kind: "s2s" | "html" | "capi";
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body: string;
  readonly postback_status: "active" | "paused" | "disabled";
  readonly created_by_affiliate: boolean;
  readonly conversion_id: string;
  readonly is_rejected: boolean;
  readonly is_private: boolean;
  readonly click_id: string | null;
  readonly event_code: string;
  readonly offer_id: number;
  readonly offer_code: string;
  readonly offer_name: string;
  readonly affiliate_id: number | null;
  readonly affiliate_code: string | null;
  readonly currency: string;
  readonly adv_txid: string | null;
  readonly conv_ip: string | null;
  readonly click_ts: string | null;
  readonly conv_ts: string;
  readonly click: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, string>>;
};

/** Sources by delivery id. A delivery whose postback was deleted is missing. */
export async function readPostbackSources(
  db: Queryable,
  deliveryIds: readonly string[],
): Promise<ReadonlyMap<string, PostbackSource>> {
  const { rows } = await db.query<PostbackSource>({
    name: "read-postback-sources",
    text: `select d.id as delivery_id, p.kind, p.method, p.url, p.body, p.status as postback_status, p.created_by_affiliate,
             c.id as conversion_id, c.status = 'rejected' or c.is_duplicate as is_rejected,
             c.is_private or coalesce(e.is_private, false) as is_private,
             c.click_id, c.event_code, c.offer_id, o.code as offer_code, o.name as offer_name, c.affiliate_id,
             a.code as affiliate_code, c.currency, c.adv_txid, host(c.conv_ip) as conv_ip, c.click_ts, c.conv_ts, c.click, c.params
           from delivery d
           join postback p on p.id = d.endpoint_id
           join conversion c on c.id = d.conversion_id
           join offer o on o.id = c.offer_id
           left join offer_event e on e.id = c.event_id
           left join affiliate a on a.id = c.affiliate_id
           where d.id = any($1::uuid[])`,
    values: [deliveryIds],
  });
  return new Map(rows.map((row) => [row.delivery_id, row]));
}
