import type { Queryable } from "../../../schemas/postgres/connect.ts";

/** The name of a record, for places where only its id is stored. */
export type EntityLabel = { readonly label: string; readonly sub: string };

/** By id, or by code for events. A record that does not exist has no label: see {@link labelOf}. */
export type EntityLabels = ReadonlyMap<number | string, EntityLabel>;

export type LabelledEntity =
  | "offer"
  | "affiliate"
  | "advertiser"
  | "smart_link"
  | "manager"
  | "event";

type LabelRow = { id: number | string; label: string; sub: string };

/** Parameters of every statement: the workspace and a list of keys. Deleted offers keep their names (T73). */
const STATEMENTS: Readonly<Record<LabelledEntity, string>> = {
  offer: `select id, name as label, code as sub from offer where workspace_id = $1 and id = any($2::integer[])`,
  affiliate: `select id, name as label, code as sub from affiliate where workspace_id = $1 and id = any($2::integer[])`,
  advertiser: `select id, name as label, '' as sub from advertiser where workspace_id = $1 and id = any($2::integer[])`,
  smart_link: `select id, name as label, code as sub from smart_link where workspace_id = $1 and id = any($2::integer[])`,
  manager: `select id, name as label, '' as sub from app_user where workspace_id = $1 and id = any($2::integer[])`,
  // Events of several offers can share a code. They share a label only if their names are equal.
  event: `select event.code as id, case when min(event.name) = max(event.name) then min(event.name) else event.code end as label,
            '' as sub
          from offer_event event join offer on offer.id = event.offer_id
          where offer.workspace_id = $1 and event.code = any($2::text[]) group by event.code`,
};

const ID_MAX = 2_147_483_647;

/** Labels of the records of one workspace. Unknown keys are left out. */
export async function readLabels(
  db: Queryable,
  entity: LabelledEntity,
  keys: { readonly workspaceId: number; readonly ids: Iterable<number | string> },
): Promise<EntityLabels> {
  const ids = [...new Set(keys.ids)].filter((id) =>
    typeof id === "number" ? id > 0 && id <= ID_MAX : id !== "",
  );
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<LabelRow>({
    name: `read-labels-${entity}`,
    text: STATEMENTS[entity],
    values: [keys.workspaceId, ids],
  });
  return new Map(rows.map(({ id, label, sub }) => [id, { label, sub }]));
}

/** An id without a record is its own label, and "none" has an empty one, so a missing label never breaks a list (T73). */
export function labelOf(labels: EntityLabels, id: number | string): EntityLabel {
  const found = labels.get(id);
  if (found !== undefined) return found;
  return { label: id === 0 ? "" : String(id), sub: "" };
}

/** Lets advertisers distinguish partners without identifying them (G66, G85). */
export function anonymousPartner(id: number): EntityLabel {
  return { label: id === 0 ? "" : `Partner ${id}`, sub: "" };
}
