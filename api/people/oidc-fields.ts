import { z } from "zod";
import { text } from "../fields/body-fields.ts";
import { ApiError } from "../operation/errors.ts";
import type { OidcClient } from "./oidc-client.ts";
import type { VisitorContext } from "./people-context.ts";

const QUERY_MAX = 8_192;
/** As long as somebody may take at the provider. */
export const FLOW_MINUTES = 10;

/** What is kept until the provider sends the browser back. `personId` is 0 for anyone who signs in. */
export const Flow = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  personId: z.int(),
});

export const flowId = z
  .uuid("expected an id of a sign-in")
  .meta({ description: "`flow_id` of the options" });

export const returnedQuery = text(QUERY_MAX).meta({
  description: "What the provider has put behind `?` of the page of the console",
  examples: ["code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj"],
});

export const FlowAnswer = z
  .strictObject({
    flow_id: z.guid().meta({ description: "Sent back with what the provider answers" }),
    url: z.string().meta({ description: "Page of the provider to open" }),
  })
  .meta({ id: "OidcFlow" });

/** @throws {ApiError} `conflict` without an identity provider. */
export function oidcOf({ people }: VisitorContext): OidcClient {
  const { oidc } = people.parts;
  if (oidc !== undefined) return oidc;
  throw new ApiError("conflict", "no identity provider is set up: the operator sets OIDC_ISSUER");
}
