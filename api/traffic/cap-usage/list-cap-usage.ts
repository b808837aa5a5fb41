import { z } from "zod";
import { CAP_PERIODS } from "../../../schemas/catalog/records.ts";
import { staff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownMoney, shownTime } from "../../fields/body-fields.ts";
import { openPage } from "../../http/page.ts";
import { idParam, pageParams } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { CAP_OWNERS, listCapUsage as listRows } from "./cap-usage.ts";

const amount = z.union([z.int(), shownMoney]);

const ShownUsage = shownSchema("cap_usage", {
  owner_kind: z.enum(CAP_OWNERS),
  owner_id: z.int(),
  owner_name: z.string(),
  measure: z.enum(["clicks", "conversions", "payout", "revenue"]),
  period: z.enum(CAP_PERIODS),
  currency: z.string().nullable(),
  limit: amount,
  used: amount.nullable(),
  share: z.number().nullable(),
  is_reached: z.boolean().nullable(),
  resets_at: shownTime.nullable(),
  alert_only: z.boolean(),
}).meta({ id: "CapUsage" });

const shareParam = z
  .string()
  .regex(/^\d{1,4}(\.\d{1,4})?$/, "expected a share such as 0.8")
  .transform(Number)
  .optional()
  .meta({
    type: "number",
    minimum: 0,
    description:
      "Only caps that are used by at least this share, such as 0.8; up to 1 also all that are reached",
  });

export const listCapUsage: Operation = operation({
  name: "listCapUsage",
  method: "GET",
  path: "/cap-usage",
  tag: "Offers",
  summary: "List the use of caps",
  description:
    "How much of each cap is used in its present period. By the counters that decide whether a cap is reached. Budgets of advertisers need the permission advertisers.read.",
  access: staff("offers.read"),
  input: {
    query: z.object({
      ...pageParams,
      offer_id: idParam.meta({ description: "Only caps of this offer itself" }),
      offer_group_id: idParam.meta({ description: "Only caps of this offer group" }),
      advertiser_id: idParam.meta({ description: "Only budget caps of this advertiser" }),
      min_share: shareParam,
    }),
  },
  output: z.object({ data: z.array(ShownUsage), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listCapUsage", query);
    const rows = await listRows(context, query, {
      after: page.after?.id ?? "",
      rowsMax: page.rowsMax,
    });
    return {
      body: page.close(rows, {
        positionOf: ({ cap }) => ({ at: "", id: cap }),
        show: (row) => showTo(context.principal.role, "cap_usage", row),
      }),
    };
  },
});
