import { z } from "zod";
import { echoRange } from "../../../schemas/time/range.ts";
import { type Resource, showTo } from "../../access/visibility.ts";
import { openPage } from "../../http/page.ts";
import { rangeOfPage } from "../../http/page-range.ts";
import { pageParams, rangeEcho, rangeParams } from "../../http/query-fields.ts";
import {
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import type { LogPage } from "./logs.ts";

/** Lists the entries of a log, as far as the key may see them, in a range of time, newest first. */
export function logOperation(log: {
  readonly name: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tag?: string;
  readonly access: OperationAccess;
  readonly filters: z.ZodRawShape;
  /** The longest range. */
  readonly daysMax: number;
  readonly resource: Resource;
  readonly Shown: z.ZodObject;
  readonly list: (
    context: OperationContext,
    page: LogPage,
  ) => Promise<readonly { readonly id: number; readonly ts: string }[]>;
}): Operation {
  return operation({
    name: log.name,
    method: "GET",
    path: log.path,
    tag: log.tag ?? "Management",
    summary: log.summary,
    description: log.description,
    access: log.access,
    input: { query: z.object({ ...rangeParams, ...pageParams, ...log.filters }) },
    output: z.object({
      data: z.array(log.Shown),
      next_cursor: z.string().nullable(),
      range: rangeEcho,
    }),
    status: 200,
    run: async (context, { query }) => {
      const page = openPage(context, log.name, query);
      const { daysMax } = log;
      const range = rangeOfPage(context, query, page, { defaultPreset: "last7", daysMax });
      const { fromMs, toMs } = range;
      const rows = await log.list(context, { ...page, fromMs, toMs });
      const shown = page.close(rows, {
        positionOf: (row) => ({ at: row.ts, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, log.resource, row),
        range: { fromMs, toMs, tz: range.zone.name },
      });
      return { body: { ...shown, range: echoRange(range) } };
    },
  });
}
