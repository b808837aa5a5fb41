import type { Catalog } from "./catalog.ts";
import type { Workspace } from "./records.ts";

/**
 * In whose inbound log a call stands of which nothing else tells whose it is: the owner's of its token, else that of the tracking
 * domain. Undefined where a domain serves several workspaces: then it is in nobody's.
 */
export function workspaceOfCall(
  catalog: Catalog,
  call: { readonly token: string; readonly host: string },
): Workspace | undefined {
  const owner = catalog.ownerOfToken(call.token.trim());
  if (owner !== undefined) return owner.workspace;
  const [id, ...others] = catalog.workspaceIdsOfHost(call.host);
  return id === undefined || others.length > 0 ? undefined : catalog.workspaces.get(id);
}
