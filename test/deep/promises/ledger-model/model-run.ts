import type { ModelDocument } from "./documents.ts";

/** What a bank reports of a line. */
export type Result = "paid" | "failed" | "returned";

export type ModelLine = {
  readonly id: number;
  readonly reference: string;
  readonly partner: number;
  readonly statements: readonly ModelDocument[];
  status: "pending" | "held" | Result;
  /** The partner has other payment details than when the run was made. */
  isUnseen: boolean;
  /** What was reported of it. */
  readonly results: Set<Result>;
};

/** A payout run. */
export type ModelRun = {
  readonly id: number;
  status: "draft" | "approved" | "paid" | "failed" | "cancelled";
  readonly lines: ModelLine[];
};
