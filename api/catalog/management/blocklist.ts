import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite, unrestrictedStaff } from "../../access/access-of-operations.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { lockWorkspace } from "../workspace/workspace.ts";
import { listInstallationEntries } from "./installation-blocklist.ts";

const ENTRIES_MAX = 10_000;
const ENTRY_MAX = 500;
/** A host, or a host and path prefix, without scheme, port or query. */
const ENTRY = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?:\/[^\s?#]*)?$/;

/** Entries of the workspace's list or of the installation's (`installation-blocklist.ts`). */
export const BlocklistEntries = listOf(
  z
    .string("expected a host")
    .max(ENTRY_MAX, `expected at most ${ENTRY_MAX} characters`)
    .transform(lowerHost)
    .refine(
      (entry) => ENTRY.test(entry),
      "expected a host or a host and path such as bad.example/offer",
    ),
  {
    expected: "expected a list of hosts",
    max: ENTRIES_MAX,
    tooMany: `expected at most ${ENTRIES_MAX} entries`,
  },
);

const Body = z.strictObject({ entries: BlocklistEntries });

const Shown = z
  .strictObject({
    entries: z.array(z.string()).meta({ description: "The workspace's own" }),
    installation: z
      .array(z.string())
      .meta({ description: "Entries of the operator, which apply to every workspace" }),
  })
  .meta({ id: "Blocklist", description: "Hosts, or host and path prefixes, of unsafe targets" });

export const getBlocklist: Operation = operation({
  name: "getBlocklist",
  method: "GET",
  path: "/blocklist",
  tag: "Management",
  summary: "Get the blocklist",
  description: "Targets to which no link of the workspace may redirect.",
  access: unrestrictedStaff,
  input: {},
  output: z.object({ data: Shown }),
  status: 200,
  run: async ({ db, workspace }) => ({ body: { data: await readLists(db, workspace.id) } }),
});

export const replaceBlocklist: Operation = operation({
  name: "replaceBlocklist",
  method: "PUT",
  path: "/blocklist",
  tag: "Management",
  summary: "Replace the blocklist",
  description: "Replaces the workspace's list of targets to which no link may redirect.",
  access: unrestrictedAdminWrite,
  input: { body: Body },
  output: z.object({ data: Shown }),
  status: 200,
  run: async ({ db, workspace }, { body }) => {
    const entries = [...new Set(body.entries)];
    await inTransaction(db, async (tx) => {
      // If two lists are put at once, the second sees the rows of the first and deletes them.
      await lockWorkspace(tx, workspace.id);
      await tx.query({
        name: "shorten-blocklist",
        text: "delete from workspace_blocklist_entry where workspace_id = $1 and entry <> all($2::text[])",
        values: [workspace.id, entries],
      });
      await tx.query({
        name: "extend-blocklist",
        text: `insert into workspace_blocklist_entry (workspace_id, entry) select $1, unnest($2::text[])
               on conflict (workspace_id, entry) do nothing`,
        values: [workspace.id, entries],
      });
    });
    return { body: { data: await readLists(db, workspace.id) } };
  },
});

type Lists = { readonly entries: string[]; readonly installation: string[] };

async function readLists(db: Queryable, workspaceId: number): Promise<Lists> {
  const { rows } = await db.query<{ entry: string }>({
    name: "list-blocklist",
    text: "select entry from workspace_blocklist_entry where workspace_id = $1 order by entry",
    values: [workspaceId],
  });
  return {
    entries: rows.map(({ entry }) => entry),
    installation: await listInstallationEntries(db),
  };
}

/** Letter case matters in paths, not in hosts. */
function lowerHost(entry: string): string {
  const slash = entry.indexOf("/");
  return slash === -1
    ? entry.toLowerCase()
    : `${entry.slice(0, slash).toLowerCase()}${entry.slice(slash)}`;
}
