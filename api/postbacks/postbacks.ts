import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";

/** A partner postback as stored. */
export type PostbackRow = {
  readonly id: number;
  readonly affiliate_id: number | null;
  readonly offer_id: number;
  readonly event_code: string | null;
  readonly kind: string;
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly fire_on: string;
  readonly status: string;
  readonly disabled_reason: string;
  readonly created_by_affiliate: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

export type PostbackFilters = {
  readonly offerId: number | undefined;
  readonly affiliateId: number | undefined;
  readonly status: string | undefined;
};

const COLUMNS = `p.id, p.affiliate_id, p.offer_id, p.event_code, p.kind, p.method, p.url, p.body, p.fire_on, p.status,
  p.disabled_reason, p.created_by_affiliate, p.created_at, p.updated_at`;
const FILTERS = `p.workspace_id = $1 and (p.created_at, p.id) < ($2::timestamptz, $3::integer)
  and ($4::integer is null or p.offer_id = $4) and ($5::text is null or p.status = $5)`;
/** Private events are not there for partners (G124, T12); staff may have set one up for a partner. */
const EVENT_IS_PUBLIC = `not exists (select from offer_event e
  where e.offer_id = p.offer_id and e.code = p.event_code and e.is_private)`;

type Page = { readonly after: Position | undefined; readonly rowsMax: number };

/** Newest first. */
export async function listPostbacksOfWorkspace(
  db: Queryable,
  workspaceId: number,
  filters: PostbackFilters,
  page: Page,
): Promise<PostbackRow[]> {
  const { rows } = await db.query<PostbackRow>({
    ...keptPlan("list-postbacks", filters),
    text: `select ${COLUMNS} from postback p
           where ${FILTERS} and ($6::integer is null or p.affiliate_id = $6)
           order by p.created_at desc, p.id desc limit $7`,
    values: [...filterValues(workspaceId, filters, page), filters.affiliateId, page.rowsMax],
  });
  return rows;
}

/** The partner's own, newest first. */
export async function listPostbacksOfPartner(
  db: Queryable,
  account: { readonly workspaceId: number; readonly affiliateId: number },
  filters: PostbackFilters,
  page: Page,
): Promise<PostbackRow[]> {
  const { rows } = await db.query<PostbackRow>({
    ...keptPlan("list-postbacks-of-partner", filters),
    text: `select ${COLUMNS} from postback p
           where ${FILTERS} and p.affiliate_id = $6 and ${EVENT_IS_PUBLIC}
           order by p.created_at desc, p.id desc limit $7`,
    values: [
      ...filterValues(account.workspaceId, filters, page),
      account.affiliateId,
      page.rowsMax,
    ],
  });
  return rows;
}

/** Whether a postback is the partner's own, as far as it may know of it. */
export async function isPostbackOfPartner(
  db: Queryable,
  affiliateId: number,
  postbackId: number,
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: "is-postback-of-partner",
    text: `select exists (select from postback p
             where p.id = $1 and p.affiliate_id = $2 and ${EVENT_IS_PUBLIC}) as found`,
    values: [postbackId, affiliateId],
  });
  return rows[0]?.found === true;
}

function filterValues(workspaceId: number, filters: PostbackFilters, { after }: Page): unknown[] {
  return [workspaceId, after?.at ?? "infinity", after?.id ?? 0, filters.offerId, filters.status];
}
