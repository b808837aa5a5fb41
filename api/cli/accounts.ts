import { findReferenced } from "../access/references.ts";
import { findAffiliate } from "../catalog/affiliates/affiliates.ts";
import { findOffer } from "../catalog/offers/offers.ts";
import { parseReference } from "../operation/codes.ts";
import type { OperationContext } from "../operation/operation.ts";
import { CommandError } from "./command-error.ts";

/*
 * Finds records that an option names by id or code. Each function returns the id, and throws a CommandError if no record matches.
 */

export async function affiliateIdOf(
  { db, workspace }: OperationContext,
  asked: string,
): Promise<number> {
  const reference = parseReference(asked);
  const found = reference && (await findAffiliate(db, workspace.id, reference));
  if (found === undefined) throw missing(workspace.slug, `affiliate ${asked}`);
  return found.id;
}

/** By id only: an advertiser has no code. */
export async function advertiserIdOf(
  { db, workspace }: OperationContext,
  asked: string,
): Promise<number> {
  const reference = parseReference(asked);
  const ids = reference === undefined ? [] : [reference.id];
  const [found] = await findReferenced(db, workspace.id, { kind: "advertiser", ids });
  if (found === undefined) throw missing(workspace.slug, `advertiser ${asked}`);
  return found;
}

export async function offerIdOf(
  { db, workspace, principal }: OperationContext,
  asked: string,
): Promise<number> {
  const reference = parseReference(asked);
  const found = reference && (await findOffer(db, principal, reference));
  if (found === undefined) throw missing(workspace.slug, `offer ${asked}`);
  return found.id;
}

function missing(slug: string, record: string): CommandError {
  return new CommandError(`Workspace ${slug} has no ${record}.`);
}
