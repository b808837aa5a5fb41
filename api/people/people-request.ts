import type { SessionCookie } from "../access/session-cookie.ts";
import type { SessionTokens } from "../access/session-tokens.ts";
import type { SignedIn } from "../access/sessions.ts";
import type { PeopleRequests } from "../http/operation-context.ts";
import type { SealedBox } from "../operation/sealed-box.ts";
import type { Mailer } from "./mailer.ts";
import type { OidcClient } from "./oidc-client.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { type AttemptCounter, countAddress } from "./throttle.ts";

/** What only operations for people use. */
export type PeopleParts = {
  readonly cookie: SessionCookie;
  readonly tokens: SessionTokens;
  readonly hasher: PasswordHasher;
  /** Attempts to sign in or to use a link, a minute and address. */
  readonly attempts: AttemptCounter;
  /** Undefined without SMTP_URL. */
  readonly mailer: Mailer | undefined;
  /** Undefined without OIDC_ISSUER. */
  readonly oidc: OidcClient | undefined;
  /** Undefined without CONSOLE_SECRET: then nobody can set up a second factor. */
  readonly box: SealedBox | undefined;
};

type Read = Pick<PeopleRequest, "signedIn" | "token" | "host" | "userAgent">;

/** The part of a request that only operations for people read. */
export class PeopleRequest {
  readonly parts: PeopleParts;
  readonly signedIn: SignedIn | undefined;
  /** The value of the session's cookie, whether it counts or not. */
  readonly token: string | undefined;
  readonly host: string;
  readonly userAgent: string;

  constructor(parts: PeopleParts, { signedIn, token, host, userAgent }: Read) {
    this.parts = parts;
    this.signedIn = signedIn;
    this.token = token;
    this.host = host;
    this.userAgent = userAgent;
  }
}

/** For the server, which does not know people. */
export function peopleRequests(parts: PeopleParts): PeopleRequests {
  return {
    countAddress: async (ip) => await countAddress(parts.attempts, ip),
    read: ({ cookie, ...request }) =>
      new PeopleRequest(parts, { ...request, token: parts.cookie.read(cookie) }),
  };
}
