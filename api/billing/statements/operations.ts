import type { Operation } from "../../operation/operation.ts";
import { getFile } from "../documents/get-file.ts";
import { approveStatement, approveStatements, voidStatement } from "./approve-statements.ts";
import { closeOwnStatement, closeStatements } from "./close-statements.ts";
import { statementReads } from "./read-statements.ts";
import { statementFiles } from "./statement-files.ts";

/** Statements of partners. */
export const statementOperations: readonly Operation[] = [
  ...statementReads,
  ...statementFiles,
  closeStatements,
  closeOwnStatement,
  approveStatement,
  approveStatements,
  voidStatement,
  getFile,
];
