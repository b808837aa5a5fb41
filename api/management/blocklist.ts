import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { wholeAdminWrite, wholeStaff } from "../access/access-of-operations.ts";
import { type Operation, operation } from "../operation.ts";

const ENTRIES_MAX = 10_000;
const ENTRY_MAX = 500;
/** A host, or a host and the beginning of a path, without scheme, port or query. */
const ENTRY = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?:\/[^\s?#]*)?$/;

const Body = z.strictObject({
  entries: z
    .array(
      z
        .string("expected a host")
        .max(ENTRY_MAX, `expected at most ${ENTRY_MAX} characters`)
        .transform(lowerHost)
        .refine(
          (entry) => ENTRY.test(entry),
          "expected a host or a host and path such as bad.example/offer",
        ),
      "expected a list of hosts",
    )
    .max(ENTRIES_MAX, `expected at most ${ENTRIES_MAX} entries`),
});

const Shown = z
  .strictObject({ entries: z.array(z.string()) })
  .meta({ id: "Blocklist", description: "Hosts, or host and path prefixes, of unsafe targets" });

export const getBlocklist: Operation = operation({
  name: "getBlocklist",
  method: "GET",
  path: "/blocklist",
  tag: "Management",
  summary: "Targets that no link is redirected to, of the whole installation (G142)",
  access: wholeStaff,
  input: {},
  output: z.object({ data: Shown }),
  status: 200,
  run: async ({ db }) => ({ body: { data: { entries: await listEntries(db) } } }),
});

export const replaceBlocklist: Operation = operation({
  name: "replaceBlocklist",
  method: "PUT",
  path: "/blocklist",
  tag: "Management",
  summary: "Replace the list of targets that no link is redirected to, for the whole installation",
  access: wholeAdminWrite,
  input: { body: Body },
  output: z.object({ data: Shown }),
  status: 200,
  run: async ({ db }, { body }) => {
    const entries = [...new Set(body.entries)];
    await inTransaction(db, async (tx) => {
      await tx.query({
        name: "shorten-blocklist",
        text: "delete from blocklist_entry where entry <> all($1::text[])",
        values: [entries],
      });
      await tx.query({
        name: "extend-blocklist",
        text: "insert into blocklist_entry (entry) select unnest($1::text[]) on conflict (entry) do nothing",
        values: [entries],
      });
    });
    return { body: { data: { entries: await listEntries(db) } } };
  },
});

async function listEntries(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ entry: string }>({
    name: "list-blocklist",
    text: "select entry from blocklist_entry order by entry",
  });
  return rows.map(({ entry }) => entry);
}

/** Hosts have no case, paths have. */
function lowerHost(entry: string): string {
  const slash = entry.indexOf("/");
  return slash === -1
    ? entry.toLowerCase()
    : `${entry.slice(0, slash).toLowerCase()}${entry.slice(slash)}`;
}
