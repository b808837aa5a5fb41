import type { IncomingMessage } from "node:http";
import { authorize, notForKeys } from "../access/authorize.ts";
import { crossSiteRefusal } from "../access/same-origin.ts";
import type { SignedIn } from "../access/sessions.ts";
import { ApiError } from "../operation/errors.ts";
import type { OperationAccess, OperationInput } from "../operation/operation.ts";
import { type Admission, refusalWithoutNeedOfKey } from "./admission.ts";
import { refusalOfState, signInRequired } from "./session-admission.ts";

const FRESH_MS = 10 * 60_000;

/** Whether the person has proved a factor within the last ten minutes. */
export function isFresh({ provedAtMs }: SignedIn, nowMs: number): boolean {
  return nowMs - provedAtMs <= FRESH_MS;
}

/**
 * Refuses a caller who may not use the operation, whatever the request contains: key or session, membership, role, permission, freshness.
 * @throws {ApiError}
 */
export function refuseCaller(
  admission: Admission,
  access: OperationAccess,
  {
    request,
    origins,
  }: { readonly request: IncomingMessage; readonly origins: ReadonlySet<string> },
): void {
  const refusal =
    access.callers === undefined ? admission.refusal : refusalOfPeople(admission, access.callers);
  if (refusal !== undefined) throw refusal;
  if (access.callers === "anyone" && access.isWrite && access.fromAnywhere !== true) {
    // Nobody is signed in to an account of a stranger by a page of another site.
    const foreign = crossSiteRefusal(request.method, request.headers, origins);
    if (foreign !== undefined) throw foreign;
  }
  if (access.callers === undefined || access.callers === "members") {
    if (admission.principal !== undefined) authorize(admission.principal, access);
  }
  if (access.needsFresh === true) refuseStale(admission);
}

/** For operations that need freshness only for some fields of the body. @throws {ApiError} */
export function refuseStaleFields(
  admission: Admission | undefined,
  { needsFresh }: OperationAccess,
  { body }: OperationInput,
): void {
  if (needsFresh === undefined || needsFresh === true) return;
  const names = typeof body === "object" && body !== null ? Object.keys(body) : [];
  if (needsFresh.some((name) => names.includes(name))) refuseStale(admission);
}

function refuseStale(admission: Admission | undefined): void {
  const { signedIn, nowMs = 0 } = admission ?? {};
  if (signedIn === undefined || isFresh(signedIn, nowMs)) return;
  throw new ApiError(
    "fresh_sign_in_required",
    "prove a factor again by POST /sign-in/prove: the last proof is older than 10 minutes",
  );
}

function refusalOfPeople(
  admission: Admission,
  callers: NonNullable<OperationAccess["callers"]>,
): Error | undefined {
  const { signedIn, principal, refusal } = admission;
  if (principal?.actor.kind === "key") return notForKeys();
  const sessionRefusal = admission.isOverBudget || callers === "members" ? refusal : undefined;
  if (signedIn !== undefined) {
    return sessionRefusal ?? (callers === "people" ? refusalOfState(signedIn) : undefined);
  }
  const withoutSession = refusalWithoutNeedOfKey(admission);
  if (withoutSession !== undefined || callers === "anyone") return withoutSession;
  return refusal instanceof ApiError && refusal.code === "forbidden" ? refusal : signInRequired();
}
