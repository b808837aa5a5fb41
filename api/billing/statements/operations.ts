import type { Operation } from "../../operation/operation.ts";

/** Statements of partners. */
export const statementOperations: readonly Operation[] = [];
