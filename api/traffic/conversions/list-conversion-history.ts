import { z } from "zod";
import { CONVERSION_STATUSES } from "../../../schemas/events/conversion-words.ts";
import { everyRole } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownMoney, shownTime } from "../../fields/body-fields.ts";
import { openPage } from "../../http/page.ts";
import { cursorParam, limitParam } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { listHistory } from "./conversion-history.ts";
import { ConversionPath, getConversionOfPath } from "./get-conversion.ts";

const status = z.enum(CONVERSION_STATUSES);
const before = { description: "null for the change that created the conversion" };

const ShownChange = shownSchema("conversion_change", {
  at: shownTime,
  actor: z.enum(["postback", "pixel", "api", "hold"]),
  key_id: z.int().nullable().meta({ description: "The key that made the change through the API" }),
  from_status: status.nullable().meta(before),
  to_status: status,
  reason: z.string(),
  from_revenue: shownMoney.nullable().meta(before),
  to_revenue: shownMoney,
  from_payout: shownMoney.nullable().meta(before),
  to_payout: shownMoney,
  from_sale_amount: shownMoney.nullable().meta(before),
  to_sale_amount: shownMoney,
  person_id: z
    .int()
    .nullable()
    .meta({ description: "The person who made the change in the console" }),
}).meta({ id: "ConversionChange" });

export const listConversionHistory: Operation = operation({
  name: "listConversionHistory",
  method: "GET",
  path: "/conversions/{id}/history",
  tag: "Conversions",
  summary: "List changes of a conversion",
  description: "Newest first. The last entry is its creation.",
  access: everyRole("conversions.read"),
  input: {
    path: ConversionPath,
    query: z.object({ limit: limitParam(50, 200), cursor: cursorParam }),
  },
  output: z.object({ data: z.array(ShownChange), next_cursor: z.string().nullable() }),
  status: 200,
  findResource: getConversionOfPath,
  run: async (context, { query, resource }) => {
    const { db, principal } = context;
    // A cursor is valid for this conversion only.
    const page = openPage(context, "listConversionHistory", { ...query, id: resource.id });
    const rows = await listHistory(db, resource.id, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.at, id: row.id }),
        show: (row) => showTo(principal.role, "conversion_change", row),
      }),
    };
  },
});
