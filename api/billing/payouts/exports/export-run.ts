import { z } from "zod";
import { readBillingState } from "../../../../schemas/billing/billing-state.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite } from "../../../access/access-of-operations.ts";
import { pathId } from "../../../http/path-fields.ts";
import { conflict } from "../../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../../operation/operation.ts";
import { fileAnswer } from "../../documents/file-answer.ts";
import { findFileOf, type KeptFile, keepFile } from "../../documents/kept-files.ts";
import { PAYOUT_FORMATS, type PayoutFormat } from "../details/payout-formats.ts";
import { findRunOf } from "../runs/approve-run.ts";
import { lockPayouts, type RunSummary } from "../runs/payout-runs.ts";
import { paypalCsv, plainCsv, wiseCsv } from "./csv-files.ts";
import { readPaidLines } from "./paid-lines.ts";
import { pain001 } from "./pain001.ts";
import { type ReadyLine, readyLines } from "./ready-lines.ts";

const CSV = { mediaType: "text/csv; charset=utf-8", ending: "csv" } as const;
const FILES = {
  csv: CSV,
  paypal_csv: CSV,
  wise_csv: CSV,
  pain001: { mediaType: "application/xml", ending: "xml" },
} as const satisfies Record<PayoutFormat, { mediaType: string; ending: string }>;

export const exportPayoutRun: Operation = operation({
  name: "exportPayoutRun",
  method: "GET",
  path: "/payout-runs/{id}/export",
  tag: "Payouts",
  summary: "Export a payout run",
  description:
    "The file for the bank or the payment service, of an approved run. It is made once: each later call answers the same bytes. It has payment details in the clear, so " +
    "each call is in the audit log. A format that does not fit every line is refused.",
  access: unrestrictedAdminWrite,
  input: {
    path: z.object({ id: pathId }),
    query: z.object({
      format: z.enum(PAYOUT_FORMATS).meta({
        description:
          "`csv` for every method, `paypal_csv` for wallets, `pain001` for SEPA transfers in EUR, `wise_csv` for bank transfers",
      }),
    }),
  },
  output: z.string().meta({ description: "The file itself, never JSON" }),
  otherMediaTypes: ["text/csv", "application/xml"],
  status: 200,
  failures: ["conflict", "unavailable"],
  findResource: findRunOf,
  run: async (context, { query: { format }, resource: run }) => {
    needApproved(run);
    const key = { ownerKind: "payout_run", ownerId: run.id, format } as const;
    const kept = await findFileOf(context.db, key);
    return await fileAnswer(context, kept ?? (await makeFile(context, run.id, format)));
  },
});

/** @throws {ApiError} `conflict` */
function needApproved(run: RunSummary): void {
  if (run.approved_at === null || run.status === "cancelled")
    throw conflict("status", `this run is ${run.status}: only an approved run has files`);
}

/** Under the lock of payouts: a run that is being cancelled either has its file, and asks about it, or gets none. */
async function makeFile(
  { db, workspace, secretKeys }: OperationContext,
  id: number,
  format: PayoutFormat,
): Promise<KeptFile> {
  return await inTransaction(db, async (tx) => {
    await lockPayouts(tx, workspace.id);
    const run = await findRunOf({ db: tx, workspace }, { id });
    needApproved(run);
    const lines = readyLines(await readPaidLines(tx, id, secretKeys), format);
    const text =
      format === "pain001"
        ? pain001({ ...transferOf(run), debtor: await debtorOf(tx, workspace.id), lines })
        : csvOf(format, lines);
    const { mediaType, ending } = FILES[format];
    return await keepFile(tx, {
      ownerKind: "payout_run",
      ownerId: id,
      format,
      workspaceId: workspace.id,
      name: `payout-run-${id}-${format}.${ending}`,
      mediaType,
      bytes: Buffer.from(text),
      sealWith: secretKeys,
    });
  });
}

function csvOf(format: Exclude<PayoutFormat, "pain001">, lines: readonly ReadyLine[]): string {
  switch (format) {
    case "csv":
      return plainCsv(lines);
    case "paypal_csv":
      return paypalCsv(lines);
    case "wise_csv":
      return wiseCsv(lines);
  }
}

function transferOf({ id, approved_at: approvedAt, execution_date: executionDate }: RunSummary) {
  return { runId: id, approvedAt: approvedAt ?? "", executionDate };
}

/** @throws {ApiError} `conflict` if the billing settings do not say whose account pays. */
async function debtorOf(
  db: Queryable,
  workspaceId: number,
): Promise<Parameters<typeof pain001>[0]["debtor"]> {
  const legal = (await readBillingState(db, workspaceId))?.legal ?? {};
  const { name = "", iban = "", bic = "" } = legal;
  if (name === "" || iban === "")
    throw conflict("legal", "set the name and the IBAN of the network in the billing settings");
  return { name, iban, bic: bic === "" ? undefined : bic };
}
