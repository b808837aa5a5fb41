import type { Operation } from "../../operation/operation.ts";

/** Confirmation of conversions by file. */
export const conversionUpdateOperations: readonly Operation[] = [];
