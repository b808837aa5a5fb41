import type { SignedIn } from "../access/sessions.ts";
import type { OperationContext } from "../operation/operation.ts";
import type { PeopleRequest } from "./people-request.ts";

/** Somebody who may have signed in. */
export type VisitorContext = Omit<OperationContext, "principal" | "workspace"> & {
  readonly people: PeopleRequest;
};

/** Somebody with a session. */
export type PersonContext = VisitorContext & { readonly signedIn: SignedIn };

/** Somebody with a session, in one of the memberships. */
export type MemberContext = OperationContext & PersonContext;
