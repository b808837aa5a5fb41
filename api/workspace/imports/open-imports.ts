import type { Metrics } from "../../../schemas/host/metrics.ts";
import type { OperationParts } from "../../http/operation-context.ts";
import type { ImportSignals, OperationContext } from "../../operation/operation.ts";
import type { CarryDeps } from "./carry-import.ts";
import { ImportMetrics } from "./import-metrics.ts";
import { ImportRunner } from "./import-runner.ts";

/** No request is counted: whoever sent the file has paid for it with one. */
const NO_RATE = { limit: 0, remaining: 0, resetSec: 0 };

type Stores = Omit<OperationParts, "imports" | "slots" | "pages">;

/** The runner of a process, which does not run yet, and how operations call it. */
export function openImports(
  stores: Stores,
  metrics: Metrics,
): { readonly runner: ImportRunner; readonly signals: ImportSignals } {
  const counted = new ImportMetrics(metrics);
  const runner = new ImportRunner({
    db: stores.db,
    secretKeys: stores.secretKeys,
    log: stores.log,
    metrics: counted,
    contextOf: (asked) => contextOf(stores, asked),
  });
  const signals = { due: () => runner.wake(), stopped: () => counted.ended("stopped") };
  return { runner, signals };
}

/** The context of a request that the sender of the import might have made for a row. */
function contextOf(
  { nats, log, ...stores }: Stores,
  { principal, run, db }: Parameters<CarryDeps["contextOf"]>[0],
): OperationContext {
  return {
    ...stores,
    principal,
    workspace: principal.workspace,
    db,
    nats: nats(),
    log: log.child({ importId: run.id, request_id: run.requestId }),
    requestId: run.requestId,
    nowMs: Date.now(),
    clientIp: "",
    isFresh: run.isFresh,
    rate: NO_RATE,
  };
}
