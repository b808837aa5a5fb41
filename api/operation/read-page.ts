import { z } from "zod";
import type { Page, SelectStatement } from "../../schemas/clickhouse/select.ts";

/** A row of a report as ClickHouse answers it. */
export const StoredRow = z
  .object({ others: z.array(z.string()) })
  .catchall(z.union([z.string(), z.number(), z.null()]));
export type StoredRow = z.infer<typeof StoredRow>;

/** Reads one page of a report. Do not change its rows: other requests may have the same ones. */
export type ReadPage = (statement: SelectStatement) => Promise<Page<StoredRow>>;
