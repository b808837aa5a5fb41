import { z } from "zod";
import { selectRows } from "../clickhouse/select.ts";
import { DAY_MS } from "../time/zone.ts";
import type { FactStores, Span } from "./fact-sums.ts";
import type { FactTable } from "./fact-table.ts";

/** Days that one statement per store compares. */
const SPAN_DAYS = 31;

const Ends = z.object({
  workspace: z.coerce.number(),
  firstMs: z.coerce.number(),
  lastMs: z.coerce.number(),
});

/** Spans of whole UTC days from the day of `sinceMs` in which either store has records of the table, by workspace and time. */
export async function listSpans(
  stores: FactStores,
  table: FactTable,
  sinceMs: number,
): Promise<Span[]> {
  const spans: Span[] = [];
  for (const [workspaceId, { firstMs, lastMs }] of await endsOf(stores, table)) {
    const endMs = startOfDay(lastMs) + DAY_MS;
    let fromMs = Math.max(startOfDay(firstMs), startOfDay(sinceMs));
    while (fromMs < endMs) {
      const toMs = Math.min(endMs, fromMs + SPAN_DAYS * DAY_MS);
      spans.push({ workspaceId, fromMs, toMs });
      fromMs = toMs;
    }
  }
  return spans;
}

/** By workspace, the first and the last record that one of the stores has; workspaces without records are left out. */
async function endsOf(
  stores: FactStores,
  table: FactTable,
): Promise<[number, { firstMs: number; lastMs: number }][]> {
  const copies = await selectRows(
    stores.clickhouse,
    {
      name: "facts.ends",
      text: table.clickhouse.ends,
    },
    Ends,
  );
  const { rows } = await stores.db.query({
    name: `ends-of-${table.postgres.table}`,
    text: table.postgres.ends,
  });
  const ends = new Map<number, { firstMs: number; lastMs: number }>();
  for (const { workspace, firstMs, lastMs } of [...copies, ...z.array(Ends).parse(rows)]) {
    const known = ends.get(workspace);
    ends.set(workspace, {
      firstMs: Math.min(firstMs, known?.firstMs ?? firstMs),
      lastMs: Math.max(lastMs, known?.lastMs ?? lastMs),
    });
  }
  return [...ends].toSorted(([a], [b]) => a - b);
}

function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}
