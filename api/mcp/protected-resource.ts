import type { FastifyInstance } from "fastify";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

export function metadataUrl(apiUrl: string, mcpPath: string): string {
  return `${apiUrl}${WELL_KNOWN}${mcpPath}`;
}

/** `WWW-Authenticate` of an answer to a request without a valid key. */
export function challengeOf(metadata: string): string {
  return `Bearer resource_metadata="${metadata}"`;
}

/**
 * What clients ask before they sign in (RFC 9728): keys go into the Authorization header, and there is no authorization server, so none is named.
 * It names no workspace and needs no key.
 */
export function addProtectedResource(
  app: FastifyInstance,
  { apiUrl, mcpPath }: { readonly apiUrl: string; readonly mcpPath: string },
): void {
  const metadata = {
    resource: `${apiUrl}${mcpPath}`,
    resource_name: "Affiliate tracking",
    resource_documentation: `${apiUrl}/api/v1/docs`,
    bearer_methods_supported: ["header"],
  };
  for (const path of [WELL_KNOWN, `${WELL_KNOWN}${mcpPath}`]) {
    app.get(path, (_request, reply) =>
      reply.header("cache-control", "public, max-age=3600").send(metadata),
    );
  }
}
