import type { RateLimiter } from "../access/rate-limiter.ts";
import type { SessionCookie } from "../access/session-cookie.ts";
import type { SessionTokens } from "../access/session-tokens.ts";
import type { SignedIn } from "../access/sessions.ts";
import type { OperationContext } from "../operation.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import type { SealedBox } from "./sealed-box.ts";

/** What only operations for people use. */
export type PeopleParts = {
  readonly cookie: SessionCookie;
  readonly tokens: SessionTokens;
  readonly hasher: PasswordHasher;
  /** Attempts to sign in or to use a link, a minute and address. */
  readonly attempts: RateLimiter;
  /** Undefined without CONSOLE_SECRET: then nobody can set up a second factor. */
  readonly box: SealedBox | undefined;
};

/** The part of a request that only operations for people read. */
export type PeopleRequest = {
  readonly parts: PeopleParts;
  readonly signedIn: SignedIn | undefined;
  /** The value of the session's cookie, whether it counts or not. */
  readonly token: string | undefined;
  readonly host: string;
  readonly userAgent: string;
};

/** Somebody who may have signed in. */
export type VisitorContext = Omit<OperationContext, "principal" | "workspace"> & {
  readonly people: PeopleRequest;
};

/** Somebody with a session. */
export type PersonContext = VisitorContext & { readonly signedIn: SignedIn };

/** Somebody with a session, in one of the memberships. */
export type MemberContext = OperationContext & PersonContext;
