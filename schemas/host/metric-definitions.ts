import { API_METRICS } from "./api-metrics.ts";
import { CLICK_WRITER_METRICS } from "./click-writer-metrics.ts";
import { INGRESS_METRICS } from "./ingress-metrics.ts";
import {
  ACCESS_METRICS,
  CATALOG_METRICS,
  DEPENDENCY_METRICS,
  DURABILITY_METRICS,
  PROCESS_METRICS,
  TRACING_METRICS,
} from "./process-metrics.ts";
import { PROCESSORS_METRICS } from "./processors-metrics.ts";

/** Every metric of an installation, without its prefix. `npm run metrics:table` writes deploy/pages/metrics.md from it. */
export const METRICS = {
  ...PROCESS_METRICS,
  ...DURABILITY_METRICS,
  ...DEPENDENCY_METRICS,
  ...ACCESS_METRICS,
  ...TRACING_METRICS,
  ...CATALOG_METRICS,
  ...INGRESS_METRICS,
  ...CLICK_WRITER_METRICS,
  ...PROCESSORS_METRICS,
  ...API_METRICS,
} as const;

/** The same by the processes that have them. A processor has those of its roles only (ROLES). */
export const METRICS_BY_PROCESS = [
  { processes: ["ingress", "processors", "api"], metrics: PROCESS_METRICS },
  { processes: ["ingress", "processors", "api"], metrics: DEPENDENCY_METRICS },
  { processes: ["ingress", "processors", "api"], metrics: DURABILITY_METRICS },
  { processes: ["ingress", "api"], metrics: ACCESS_METRICS },
  { processes: ["ingress", "processors", "api"], metrics: TRACING_METRICS },
  { processes: ["ingress", "processors"], metrics: CATALOG_METRICS },
  { processes: ["ingress"], metrics: INGRESS_METRICS },
  { processes: ["processors"], metrics: CLICK_WRITER_METRICS },
  { processes: ["processors"], metrics: PROCESSORS_METRICS },
  { processes: ["api"], metrics: API_METRICS },
] as const;
