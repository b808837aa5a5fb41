import { z } from "zod";
import type { Page, SelectStatement } from "../../schemas/clickhouse/select.ts";

const Metrics = z.array(z.string().nullable());
/** A row of a report as ClickHouse answers it. */
export const StoredRow = z
  .object({
    others: z.array(z.string()),
    metrics: Metrics,
    /** With a comparison: the metrics of the other period, and how far they changed, in millionths. */
    previous: Metrics.optional(),
    change: Metrics.optional(),
  })
  .catchall(z.union([z.string(), z.number()]));
export type StoredRow = z.infer<typeof StoredRow>;

/** Reads one page of a report. Do not change its rows: other requests may have the same ones. */
export type ReadPage = (statement: SelectStatement) => Promise<Page<StoredRow>>;
