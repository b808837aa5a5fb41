import { canonicalHost } from "../../schemas/catalog/tracking-host.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { CommandError } from "./command-error.ts";

type HostWorkspace = { readonly id: number; readonly slug: string };

/** A host that is shared, as it appears in links, and the workspace that owns it. */
export type SharedHost = { readonly host: string; readonly owner: HostWorkspace };

const CLASHES_LISTED_MAX = 20;

/**
 * The workspace that owns the host; undefined when no workspace does. The host cannot be removed before the end of the transaction.
 */
export async function findHostOwner(
  tx: Queryable,
  host: string,
): Promise<(SharedHost & { readonly domainId: number }) | undefined> {
  const { rows } = await tx.query<{ id: number; host: string; owner_id: number; slug: string }>({
    name: "find-host-owner",
    text: `select d.id, d.host, w.id as owner_id, w.slug from tracking_domain d join workspace w on w.id = d.workspace_id
           where tracking_host_key(d.host) = $1 and d.shared_from is null
           for key share of d`,
    values: [canonicalHost(host)],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return { domainId: row.id, host: row.host, owner: { id: row.owner_id, slug: row.slug } };
}

/**
 * Adds a host to a second workspace (G200). Changes nothing when it is shared already. Must run in a transaction.
 *
 * @throws {CommandError} when no other workspace has the host, or when an offer, a partner or a smart link has the same code in
 *   both.
 */
export async function shareHost(
  tx: Queryable,
  host: string,
  guest: HostWorkspace,
): Promise<SharedHost> {
  const found = await findHostOwner(tx, host);
  if (found === undefined) {
    throw new CommandError(`No workspace has the host ${host}: \`domain add\` adds it to one.`);
  }
  if (found.owner.id === guest.id) {
    throw new CommandError(
      `The host ${found.host} is ${guest.slug}'s own: name another workspace.`,
    );
  }
  // This takes the lock of all catalog writers. No code can be added from here on, so the list of clashes is complete.
  await tx.query({
    name: "share-host",
    text: `insert into tracking_domain (workspace_id, host, scheme, certification, shared_from)
           select $2, host, scheme, certification, id from tracking_domain where id = $1
           on conflict (workspace_id, lower(host)) do nothing`,
    values: [found.domainId, guest.id],
  });
  const clashes = await listClashes(tx, found.domainId, guest.id);
  if (clashes.length > 0) throw new CommandError(clashesText(found.host, guest, clashes));
  return found;
}

/** Codes that exist both in a workspace and in another one on the same host. Returns one more than is listed. */
async function listClashes(
  tx: Queryable,
  domainId: number,
  guestId: number,
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ kind: string; code: string }>({
    name: "list-code-clashes",
    text: `select distinct own.kind, own.code
           from link_code own join link_code other on other.kind = own.kind and other.code = own.code
           where own.workspace_id = $2 and other.workspace_id in (
             select d.workspace_id from tracking_domain d
             where coalesce(d.shared_from, d.id) = $1 and d.workspace_id <> $2)
           order by own.kind, own.code limit $3`,
    values: [domainId, guestId, CLASHES_LISTED_MAX + 1],
  });
  return rows.map(({ kind, code }) => `${kind.replace("_", " ")} ${code}`);
}

function clashesText(host: string, guest: HostWorkspace, clashes: readonly string[]): string {
  const listed = clashes.slice(0, CLASHES_LISTED_MAX).map((clash) => `  ${clash}`);
  return [
    `Not shared: codes must be unique on a host, and ${guest.slug} has codes that another workspace on ${host} also has:`,
    ...listed,
    ...(clashes.length > CLASHES_LISTED_MAX ? ["  and more"] : []),
    `Give ${guest.slug} a host of its own with \`domain add\`.`,
  ].join("\n");
}
