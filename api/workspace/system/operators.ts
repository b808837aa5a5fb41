import { ApiError } from "../../operation/errors.ts";
import { FRESH_WRITES, SIGNED_IN } from "../../people/access-of-people.ts";
import type { PersonContext } from "../../people/people-context.ts";

/** Reads and writes of the person who runs the installation. Keys belong to one workspace, so no key may use them. */
export const OPERATORS = SIGNED_IN;
export const OPERATORS_WRITE = FRESH_WRITES;

/** Runs before path, query and body are read, so that others learn nothing from faults. @throws {ApiError} `forbidden` */
export function refuseOthers({ signedIn }: Pick<PersonContext, "signedIn">): void {
  if (!signedIn.person.isOperator)
    throw new ApiError("forbidden", "this is for operators of the installation");
}
