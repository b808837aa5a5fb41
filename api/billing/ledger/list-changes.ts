import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import { type FilteredPage, openPage } from "../../http/page.ts";
import { dayParam, pageParams, textParam } from "../../http/query-fields.ts";
import { statementName } from "../../http/statement-name.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { type Days, dayBounds } from "./day-bounds.ts";

const fields = z.record(z.string(), z.unknown());

const ShownChange = shownSchema("change", {
  id: z.int(),
  at: shownTime,
  resource: z.string(),
  resource_id: z.string(),
  key_id: z.int().nullable(),
  person_id: z.int().nullable(),
  address: z.string().nullable(),
  before: fields,
  after: fields,
}).meta({ id: "Change" });

export const listChanges: Operation = operation({
  name: "listChanges",
  method: "GET",
  path: "/changes",
  tag: "Billing",
  summary: "List changes of settings",
  description:
    "What was before and after each change of settings that decide about money, newest first. Kept 3 years.",
  access: unrestrictedStaff,
  input: {
    query: z.object({
      ...pageParams,
      resource: textParam.meta({ description: "What was changed, such as `billing-settings`" }),
      resource_id: textParam.meta({ description: "Id of the record" }),
      from: dayParam.meta({ description: "First day, in the time zone of the workspace" }),
      to: dayParam.meta({ description: "Last day" }),
    }),
  },
  output: z.object({ data: z.array(ShownChange), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { db, workspace, principal } = context;
    const page = openPage(context, "listChanges", query);
    const rows = await listRows(db, workspace.id, {
      ...page,
      ...dayBounds(workspace.timezone, query),
    });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "change", row),
      }),
    };
  },
});

type ChangeRow = { readonly id: number; readonly at: string; readonly [column: string]: unknown };

async function listRows(
  db: Queryable,
  workspaceId: number,
  { after, rowsMax, filters, from, to }: FilteredPage & Days,
): Promise<ChangeRow[]> {
  const conditions = conditionsOf(filters);
  const { rows } = await db.query<ChangeRow>({
    ...statementName("list-changes", { from, to, ...filters }),
    text: `select id, at, resource, resource_id, key_id, person_id, host(address) as address, before, after from change_log
           where workspace_id = $1 and (at, id) < ($2::timestamptz, $3::bigint)
             and at >= coalesce($5::timestamptz, '-infinity') and at < coalesce($6::timestamptz, 'infinity')
             ${quoteConditions(conditions, 7)}
           order by at desc, id desc limit $4`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      after?.id ?? "0",
      rowsMax,
      from,
      to,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}
