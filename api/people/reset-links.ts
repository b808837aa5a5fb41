import type { Queryable } from "../../schemas/postgres/connect.ts";
import { insertLink, type LinkTokens, revokeLinks } from "./links.ts";
import { getPerson, type PersonRow } from "./people.ts";

/**
 * Makes the only open link by which a person sets a new password, for the address and the rights that the person has now. The caller has
 * locked the person.
 */
export async function insertResetLink(
  tx: Queryable,
  personId: number,
  { tokens, madeBy }: { readonly tokens: LinkTokens; readonly madeBy?: number },
): Promise<{ readonly id: number; readonly person: PersonRow }> {
  const person = await getPerson(tx, personId);
  await revokeLinks(tx, "reset", personId);
  const { email } = person;
  const maker = madeBy === undefined ? {} : { madeBy };
  const id = await insertLink(tx, tokens, { kind: "reset", personId, email, ...maker });
  return { id, person };
}
