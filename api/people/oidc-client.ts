import * as oidc from "openid-client";
import { isLoopbackHost } from "../../schemas/net/loopback-host.ts";
import { ApiError } from "../operation/errors.ts";

/** The identity provider of the installation: OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_NAME. */
export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** For the button. */
  readonly name: string;
};

/** The server's half of a sign-in that is under way. */
export type OidcFlow = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
};

/** Who the provider says has signed in. Issuer and subject identify the person; an e-mail may move to somebody else. */
export type OidcIdentity = {
  readonly issuer: string;
  readonly subject: string;
  /** Undefined unless the provider has verified it. */
  readonly email: string | undefined;
  readonly name: string;
};

const PATIENCE_SEC = 5;
/** The provider's addresses and keys are read again after this time. */
const KNOWN_MS = 3_600_000;
const NAME_MAX = 200;
const SCOPE = "openid email profile";

/** Authorization code flow with PKCE, state and nonce. The provider sends the browser back to a page of the console. */
export class OidcClient {
  readonly name: string;
  readonly #settings: OidcSettings;
  readonly #returnUrl: string;
  #known: Promise<oidc.Configuration> | undefined;
  #knownUntilMs = 0;

  constructor(settings: OidcSettings, apiUrl: string) {
    this.name = settings.name;
    this.#settings = settings;
    this.#returnUrl = `${apiUrl}/console/sign-in/oidc`;
  }

  /** The page of the provider to open, and what to keep until it sends the browser back. @throws {ApiError} `unavailable` */
  async begin(): Promise<{ readonly url: string; readonly flow: OidcFlow }> {
    const configuration = await this.#configuration();
    const flow = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#returnUrl,
      scope: SCOPE,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, flow };
  }

  /** `query` is what the provider put behind `?`. @throws {ApiError} `sign_in_required` or `unavailable` */
  async finish(flow: OidcFlow, query: string): Promise<OidcIdentity> {
    const configuration = await this.#configuration();
    const returned = new URL(this.#returnUrl);
    returned.search = query;
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, returned, {
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        pkceCodeVerifier: flow.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw refused("it sent no ID token");
      const { iss, sub } = claims;
      const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
      // Some providers put the e-mail only there.
      const more =
        claims["email"] === undefined && endpoint !== undefined
          ? await oidc.fetchUserInfo(configuration, tokens.access_token, sub)
          : {};
      return identityOf(iss, sub, { ...more, ...claims });
    } catch (error) {
      throw faultOf(error);
    }
  }

  async #configuration(): Promise<oidc.Configuration> {
    if (this.#known === undefined || performance.now() > this.#knownUntilMs) {
      this.#knownUntilMs = performance.now() + KNOWN_MS;
      this.#known = discovered(this.#settings);
    }
    try {
      return await this.#known;
    } catch (error) {
      // The next sign-in asks anew.
      this.#known = undefined;
      throw faultOf(error);
    }
  }
}

async function discovered({
  issuer,
  clientId,
  clientSecret,
}: OidcSettings): Promise<oidc.Configuration> {
  const server = new URL(issuer);
  const isPlain = server.protocol === "http:" && isLoopbackHost(server.hostname);
  const authentication = clientSecret === undefined ? oidc.None() : asOffered(clientSecret);
  return await oidc.discovery(server, clientId, undefined, authentication, {
    timeout: PATIENCE_SEC,
    execute: isPlain ? [oidc.allowInsecureRequests] : [],
  });
}

/** Basic authentication where the provider takes it, as the specification wants; else the secret goes into the body. */
function asOffered(secret: string): oidc.ClientAuth {
  const basic = oidc.ClientSecretBasic(secret);
  const post = oidc.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const offered = server.token_endpoint_auth_methods_supported;
    const isBasic = offered === undefined || offered.includes("client_secret_basic");
    (isBasic ? basic : post)(server, client, body, headers);
  };
}

function identityOf(
  issuer: string,
  subject: string,
  claims: Readonly<Record<string, unknown>>,
): OidcIdentity {
  const { email, email_verified: verified, name } = claims;
  // One provider writes the claim as text.
  const isVerified = verified === true || verified === "true";
  const address = typeof email === "string" && isVerified ? email : undefined;
  const shown = typeof name === "string" && name.trim() !== "" ? name.trim() : (address ?? subject);
  return { issuer, subject, email: address, name: shown.slice(0, NAME_MAX) };
}

/** The provider's refusals are 401; whatever keeps it from answering is 503. */
function faultOf(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  if (error instanceof oidc.AuthorizationResponseError) return refused(error.error, error);
  if (error instanceof oidc.ResponseBodyError && error.status < 500)
    return refused(error.error, error);
  if (error instanceof oidc.ClientError && isRefusal(error))
    return refused("its answer does not belong to this sign-in", error);
  return new ApiError("unavailable", "the identity provider does not answer: try again", {
    cause: error,
    headers: { "retry-after": String(PATIENCE_SEC) },
  });
}

/** Checks of the answer, not of the connection. */
function isRefusal({ code }: oidc.ClientError): boolean {
  return code !== undefined && /INVALID_RESPONSE|JWT|CLAIM|UNEXPECTED/.test(code);
}

function refused(why: string, cause?: unknown): ApiError {
  return new ApiError("sign_in_required", `the identity provider has refused: ${why}`, {
    cause,
    headers: { "www-authenticate": "Bearer" },
  });
}
