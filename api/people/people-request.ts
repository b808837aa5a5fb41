import type { SessionCookie } from "../access/session-cookie.ts";
import type { SessionTokens } from "../access/session-tokens.ts";
import type { SignedIn } from "../access/sessions.ts";
import type { Mailer } from "./mailer.ts";
import type { OidcClient } from "./oidc-client.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import type { SealedBox } from "./sealed-box.ts";

/** What only operations for people use. */
export type PeopleParts = {
  readonly cookie: SessionCookie;
  readonly tokens: SessionTokens;
  readonly hasher: PasswordHasher;
  /** Attempts to sign in or to use a link, a minute and address. */
  readonly attempts: {
    readonly count: (
      holder: string,
    ) => Promise<{ readonly isOver: boolean; readonly resetSec: number }>;
  };
  /** Undefined without SMTP_URL. */
  readonly mailer: Mailer | undefined;
  /** Undefined without OIDC_ISSUER. */
  readonly oidc: OidcClient | undefined;
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
