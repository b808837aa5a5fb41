import { z } from "zod";
import { unrestrictedAdminWrite } from "../../../access/access-of-operations.ts";
import { listOf } from "../../../fields/bounded-list.ts";
import { CsvFault, csvRecords, withoutEmptyEnd } from "../../../http/csv-records.ts";
import { pathId } from "../../../http/path-fields.ts";
import { faultsOf } from "../../../http/request-input.ts";
import { ApiError } from "../../../operation/errors.ts";
import {
  type CsvBody,
  type FieldFaults,
  type Operation,
  operation,
} from "../../../operation/operation.ts";
import { findRunOf } from "../runs/approve-run.ts";
import { applyResults, type NumberedRow } from "./apply-results.ts";
import { LIST_OF_RESULTS, ResultRow, StrictResults } from "./result-fields.ts";

const { $schema: _dialect, ...rowSchema } = z.toJSONSchema(ResultRow, {
  io: "input",
  unrepresentable: "any",
});
const EXAMPLE = {
  reference: "P12L55",
  status: "paid",
  external_id: "TRANSFER-1",
  amount: "1840.55",
};

/** Each row is judged by itself, so that a wrong row does not block the others. */
const Body = z.strictObject({
  rows: listOf(z.unknown().meta({ ...rowSchema, examples: [EXAMPLE] }), LIST_OF_RESULTS).min(
    1,
    "expected a result",
  ),
});

const csvResults: CsvBody = {
  read: (text) => {
    try {
      const [header = [], ...lines] = csvRecords(text);
      const columns = withoutEmptyEnd(header).map((cell) => cell.trim().toLowerCase());
      return {
        rows: lines.map((cells) =>
          Object.fromEntries(
            withoutEmptyEnd(cells).flatMap((cell, index): [string, string][] =>
              cell === "" ? [] : [[columns[index] ?? `column ${index + 1}`, cell]],
            ),
          ),
        ),
      };
    } catch (error) {
      if (!(error instanceof CsvFault)) throw error;
      throw new ApiError("invalid_request", `the body is not CSV: ${error.message}`);
    }
  },
  example:
    "reference,status,external_id,amount,fee,at,error\r\nP12L55,paid,TRANSFER-1,1840.55,0.35,,\r\n",
};

export const setPayoutResults: Operation = operation({
  name: "setPayoutResults",
  method: "POST",
  path: "/payout-runs/{id}/results",
  tag: "Payouts",
  summary: "Set results of a payout run",
  description:
    "What the bank or service did with each line, as `{rows: […]}` or as text/csv with a header line. Rows are judged one by one. A result that is known already is " +
    "`unchanged`, so a file may be sent again. `paid` posts the payment to the ledger; `returned` after `paid` takes it back. The statements of a line that " +
    "failed or came back are free for the next run. Fees are noted and not posted.",
  access: unrestrictedAdminWrite,
  input: { path: z.object({ id: pathId }), body: Body },
  strictBody: StrictResults,
  csvBody: csvResults,
  output: z.object({
    data: z.strictObject({
      applied: z.int(),
      unchanged: z.int(),
      rejected: z.array(
        z.strictObject({
          row: z.int().meta({ description: "The first row is 1; a header line is not counted" }),
          fields: z.record(z.string(), z.string()).meta({ description: "What is wrong, by field" }),
        }),
      ),
    }),
  }),
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: findRunOf,
  run: async (context, { body, resource }) => {
    const read: NumberedRow[] = [];
    const faulty: { readonly row: number; readonly fields: FieldFaults }[] = [];
    for (const [index, given] of body.rows.entries()) {
      const parsed = ResultRow.safeParse(given);
      if (parsed.success) read.push({ row: index + 1, result: parsed.data });
      else faulty.push({ row: index + 1, fields: faultsOf(parsed.error, given) });
    }
    const outcome = await applyResults(context, resource.id, read);
    const rejected = [...faulty, ...outcome.rejected].sort((a, b) => a.row - b.row);
    return { body: { data: { ...outcome, rejected } } };
  },
});
