import { z } from "zod";
import { currency, money, oneOf, text } from "../../../fields/body-fields.ts";
import { listOf } from "../../../fields/bounded-list.ts";
import { time } from "../../../fields/catalog-fields.ts";

const ROWS_MAX = 10_000;
const WORD_MAX = 100;
const ERROR_MAX = 500;

/** What a bank or service says of one line. */
export const ResultRow = z.strictObject(
  {
    reference: text(WORD_MAX).min(1, "expected a reference such as P12L55"),
    status: oneOf("paid", "failed", "returned"),
    external_id: text(WORD_MAX).default(""),
    amount: money.optional(),
    currency: currency.optional(),
    fee: money.optional(),
    at: time.optional(),
    error: text(ERROR_MAX).default(""),
  },
  "expected an object",
);
export type ResultRow = z.infer<typeof ResultRow>;

export const LIST_OF_RESULTS = {
  expected: "expected a list of results",
  max: ROWS_MAX,
  tooMany: `expected at most ${ROWS_MAX} results`,
};

/** A body in which no row may be wrong. */
export const StrictResults = z.strictObject({ rows: listOf(ResultRow, LIST_OF_RESULTS) });
