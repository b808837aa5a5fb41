import type { Queryable } from "../../schemas/postgres/connect.ts";
import { permissionsOf, type Role } from "../operation/permissions.ts";
import { type AccountColumns, accountOf } from "../operation/principal.ts";
import type { FoundMembership } from "./sessions.ts";

type MembershipRow = AccountColumns & {
  person_name: string;
  version: number;
  role: Role;
  permissions: string[] | null;
};

/** For work that goes on after the request of a person. Undefined if the person or the membership is not active any more. */
export async function findMembership(
  db: Queryable,
  { personId, membershipId }: { readonly personId: number; readonly membershipId: number },
): Promise<FoundMembership | undefined> {
  const { rows } = await db.query<MembershipRow>({
    name: "find-membership",
    text: `select p.name as person_name, m.version, m.role, m.permissions,
             w.id as workspace_id, w.slug, w.name as workspace_name, w.brand_name, w.timezone,
             w.currency as workspace_currency, w.status as workspace_status,
             f.id as affiliate_id, f.code as affiliate_code, f.name as affiliate_name, f.status as affiliate_status,
             f.currency as affiliate_currency, a.id as advertiser_id, a.name as advertiser_name,
             a.status as advertiser_status, a.currency as advertiser_currency
           from membership m join person p on p.id = m.person_id and p.status = 'active'
           join workspace w on w.id = m.workspace_id
           left join affiliate f on f.id = m.affiliate_id left join advertiser a on a.id = m.advertiser_id
           where m.id = $1 and m.person_id = $2 and m.status = 'active'`,
    values: [membershipId, personId],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const actor = { kind: "person", id: personId, name: row.person_name, membershipId } as const;
  return {
    principal: accountOf(row, { actor, permissions: permissionsOf(row.role, row.permissions) }),
    version: row.version,
    isWorkspaceActive: row.workspace_status === "active",
  };
}
