import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { OBSERVE } from "./alert-rules.ts";

const FOLDER = join(OBSERVE, "dashboards");

const DataSource = z.strictObject({
  type: z.literal("prometheus"),
  uid: z.literal("${datasource}"),
});

/** Places in a grid of 24 columns. */
const GridPos = z.strictObject({
  h: z.int().positive(),
  w: z.int().min(1).max(24),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
});

const Row = z.object({
  id: z.int().positive(),
  type: z.literal("row"),
  title: z.string().min(1),
  gridPos: GridPos,
});

const Graph = z.object({
  id: z.int().positive(),
  type: z.enum(["timeseries", "stat"]),
  title: z.string().min(1),
  description: z.string().regex(/\.$/),
  datasource: DataSource,
  gridPos: GridPos,
  fieldConfig: z.object({ defaults: z.object({ unit: z.string().min(1) }) }),
  targets: z
    .array(
      z.object({
        refId: z.string().regex(/^[A-Z]$/),
        datasource: DataSource,
        expr: z.string().min(1),
        legendFormat: z.string(),
      }),
    )
    .min(1),
});
export type Graph = z.infer<typeof Graph>;

/** The parts of Grafana's dashboard schema that ours use. */
export const Dashboard = z.object({
  uid: z.string().regex(/^tracker-[a-z]+$/),
  title: z.string().regex(/^Tracker: /),
  tags: z.tuple([z.literal("tracker")]),
  schemaVersion: z.int().min(36),
  editable: z.literal(false),
  time: z.object({ from: z.string(), to: z.string() }),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(z.union([Row, Graph])).min(5),
});
export type Dashboard = z.infer<typeof Dashboard>;

export const dashboardFiles: readonly string[] = readdirSync(FOLDER).toSorted();

export function readDashboard(file: string): Dashboard {
  return Dashboard.parse(JSON.parse(readFileSync(join(FOLDER, file), "utf8")));
}

export function graphsOf({ panels }: Dashboard): Graph[] {
  return panels.filter((panel) => panel.type !== "row");
}
