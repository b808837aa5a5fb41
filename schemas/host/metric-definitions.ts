import { CLICK_WRITER_METRICS } from "./click-writer-metrics.ts";
import { INGRESS_METRICS } from "./ingress-metrics.ts";
import { ACCESS_METRICS, CATALOG_METRICS, PROCESS_METRICS } from "./process-metrics.ts";
import { PROCESSORS_METRICS } from "./processors-metrics.ts";

/** Every metric of an installation, without its prefix. `npm run metrics:table` writes deploy/pages/metrics.md from it. */
export const METRICS = {
  ...PROCESS_METRICS,
  ...ACCESS_METRICS,
  ...CATALOG_METRICS,
  ...INGRESS_METRICS,
  ...CLICK_WRITER_METRICS,
  ...PROCESSORS_METRICS,
} as const;
