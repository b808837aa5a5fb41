import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { openPage } from "../../http/page.ts";
import {
  currencyParam,
  dayParam,
  idParam,
  pageParams,
  textParam,
} from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { ShownAdCost } from "./ad-cost-fields.ts";
import { listAdCosts as listRows } from "./ad-costs.ts";

export const listAdCosts: Operation = operation({
  name: "listAdCosts",
  method: "GET",
  path: "/ad-costs",
  tag: "Management",
  summary: "List ad costs",
  description: "Newest day first.",
  access: staff("reports.read"),
  input: {
    query: z.object({
      ...pageParams,
      from: dayParam.meta({ description: "First day" }),
      to: dayParam.meta({ description: "Last day" }),
      offer_id: idParam,
      affiliate_id: idParam,
      traffic_source: textParam,
      currency: currencyParam,
    }),
  },
  output: z.object({ data: z.array(ShownAdCost), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listAdCosts", query);
    const asked = { ...page, from: query.from, to: query.to };
    const rows = await listRows(context.db, context.workspace.id, asked);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.date, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, "ad_cost", row),
      }),
    };
  },
});
