import type { Queryable } from "../../../schemas/postgres/connect.ts";

/** The click of the latest conversion with this e-mail (G114); undefined for none. */
export async function findClickIdByEmail(
  db: Queryable,
  search: {
    readonly workspaceId: number;
    readonly emailHash: string;
    readonly advertiserId: number | null;
  },
): Promise<string | undefined> {
  const { rows } = await db.query<{ click_id: string }>({
    name: "find-click-id-by-email",
    text: `select c.click_id from conversion c
           where c.workspace_id = $1 and c.email_hash = $2 and c.click_id is not null
             and ($3::integer is null or c.advertiser_id = $3)
           order by c.conv_ts desc limit 1`,
    values: [search.workspaceId, search.emailHash, search.advertiserId],
  });
  return rows[0]?.click_id;
}
