import type { Operation } from "../../operation/operation.ts";

/** Payout runs, and how partners are paid. */
export const payoutOperations: readonly Operation[] = [];
