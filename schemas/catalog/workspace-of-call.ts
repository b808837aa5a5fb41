import type { Catalog } from "./catalog.ts";
import type { Workspace } from "./records.ts";

/**
 * The workspace that sees a call without a known offer or click in its log: the owner of its token, else the owner of its tracking
 * domain. Undefined if several workspaces share the domain; then no workspace sees the call.
 */
export function workspaceOfCall(
  catalog: Catalog,
  call: { readonly token: string; readonly host: string; readonly atMs: number },
): Workspace | undefined {
  const owner = catalog.ownerOfToken(call.token.trim(), call.atMs);
  if (owner !== undefined) return owner.workspace;
  const [id, ...others] = catalog.workspaceIdsOfHost(call.host);
  return id === undefined || others.length > 0 ? undefined : catalog.workspaces.get(id);
}
