import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { findKeyById } from "../../access/api-keys.ts";
import { refusalOfAccess, refusalOfAccount } from "../../access/authorize.ts";
import { findMembership } from "../../access/memberships.ts";
import type { Principal } from "../../operation/principal.ts";
import type { ImportRun } from "./import-runs.ts";
import { accessOfKind } from "./imported-kinds.ts";

/** The sender of an import has lost the right to it. The message is for people. */
export class CreatorRefusedError extends Error {
  override readonly name = "CreatorRefusedError";
}

/** The sender of the import with current rights. @throws {CreatorRefusedError} if they do not suffice. */
export async function creatorOf(db: Queryable, run: ImportRun): Promise<Principal> {
  const { keyId, personId, membershipId, kind } = run;
  const found =
    keyId === null
      ? await findMembership(db, { personId: personId ?? 0, membershipId: membershipId ?? 0 })
      : await findKeyById(db, keyId);
  if (found === undefined) {
    throw new CreatorRefusedError(
      keyId === null ? "the person is no longer a member" : "the key was revoked or has expired",
    );
  }
  const refusal = refusalOfAccount(found) ?? refusalOfAccess(found.principal, accessOfKind(kind));
  if (refusal !== undefined) throw new CreatorRefusedError(refusal.message);
  return found.principal;
}
