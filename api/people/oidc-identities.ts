import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { OidcIdentity } from "./oidc-client.ts";

type Named = Pick<OidcIdentity, "issuer" | "subject">;

/** The person whom the provider knows by this subject. */
export async function findPersonOfIdentity(
  db: Queryable,
  { issuer, subject }: Named,
): Promise<number | undefined> {
  const { rows } = await db.query<{ person_id: number }>({
    name: "find-person-of-identity",
    text: "select person_id from oidc_identity where issuer = $1 and subject = $2",
    values: [issuer, subject],
  });
  return rows[0]?.person_id;
}

/** Returns the person who has the identity afterwards: another person may have connected it first. */
export async function insertIdentity(
  db: Queryable,
  { issuer, subject }: Named,
  personId: number,
): Promise<number> {
  const { rows } = await db.query<{ person_id: number }>({
    name: "insert-identity",
    text: `insert into oidc_identity as known (issuer, subject, person_id) values ($1, $2, $3)
           on conflict (issuer, subject) do update set person_id = known.person_id returning person_id`,
    values: [issuer, subject, personId],
  });
  return rows[0]?.person_id ?? 0;
}

/** False if the person had none. */
export async function deleteIdentities(db: Queryable, personId: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "delete-identities",
    text: "delete from oidc_identity where person_id = $1 returning person_id",
    values: [personId],
  });
  return rows.length > 0;
}
