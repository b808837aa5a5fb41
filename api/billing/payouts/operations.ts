import type { Operation } from "../../operation/operation.ts";
import { paymentMethodOperations } from "./details/payment-method-operations.ts";
import { exportPayoutRun } from "./exports/export-run.ts";
import { setPayoutResults } from "./results/set-results.ts";
import { approvePayoutRun } from "./runs/approve-run.ts";
import { createPayoutRun, previewPayoutRun } from "./runs/make-run.ts";
import {
  cancelPayoutRun,
  getPayoutRun,
  listOwnPayoutLines,
  listPayoutRuns,
  releasePayoutLine,
} from "./runs/run-operations.ts";

/** Payout runs, and how partners are paid. */
export const payoutOperations: readonly Operation[] = [
  ...paymentMethodOperations,
  createPayoutRun,
  previewPayoutRun,
  listPayoutRuns,
  getPayoutRun,
  approvePayoutRun,
  exportPayoutRun,
  cancelPayoutRun,
  releasePayoutLine,
  listOwnPayoutLines,
  setPayoutResults,
];
