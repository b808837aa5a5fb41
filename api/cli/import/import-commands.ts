import type { FieldKind } from "../../http/field-values.ts";
import { AnotherRunError } from "../../workspace/imports/file/another-run.ts";
import { type Checked, checkFile } from "../../workspace/imports/file/check-file.ts";
import { FaultList } from "../../workspace/imports/file/fault-list.ts";
import { FileFault } from "../../workspace/imports/file/file-fault.ts";
import { delimiterOf, formatOfName } from "../../workspace/imports/file/file-rows.ts";
import type {
  FileFormat,
  ImportFile,
  ImportPlan,
} from "../../workspace/imports/file/import-plan.ts";
import { ImportRecord, idOfImport } from "../../workspace/imports/file/import-record.ts";
import {
  importedAdvertisers,
  importedAffiliates,
} from "../../workspace/imports/file/imported-accounts.ts";
import { importedOffers } from "../../workspace/imports/file/imported-offers.ts";
import { fieldKindsOf, type ImportedKind } from "../../workspace/imports/file/imported-row.ts";
import { FaultyRow } from "../../workspace/imports/file/row-faults.ts";
import { writeFile } from "../../workspace/imports/file/write-file.ts";
import type { Command, CommandArguments, Terminal } from "../command.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { wrapped } from "../help.ts";
import { IN_WORKSPACE } from "../options.ts";
import { byCommandLine, inWorkspace } from "../session.ts";
import { faultLines, ROWS_SHOWN_MAX } from "./fault-lines.ts";
import { fileBytes } from "./file-bytes.ts";
import { Progress } from "./progress.ts";

/** One look-up serves so many rows. */
const BATCH_ROWS = 500;
const TRANSACTION_MS = 500;
const WORDS: ImportPlan["words"] = {
  update: "--update",
  delimiter: (name) => `--delimiter "${name}"`,
};
/** The content of the file identifies the import: with a changed file, rows without a key would be written again. */
const KEEP_THE_FILE =
  "so do not change the file: run the command again with --skip-faulty, which leaves only faulty rows out, " +
  "and import these, corrected, from a file of its own.";

function importCommand(
  kind: ImportedKind,
  words: { readonly example: string; readonly more: string },
): Command {
  const name = `${kind.noun} import`;
  const kinds = fieldKindsOf(kind);
  return {
    name,
    operand: { name: "FILE", summary: "CSV with a header row, a JSON array or JSON lines; UTF-8" },
    summary: `imports ${kind.plural} from a CSV or JSON file`,
    options: {
      ...IN_WORKSPACE,
      "dry-run": { summary: "reports every fault and writes nothing" },
      update: { summary: `changes existing ${kind.plural}, matched by ${kind.keyField}` },
      "skip-faulty": { summary: "leaves faulty rows out instead of writing nothing" },
      format: { value: "csv|json", summary: "needed if the file name has another extension" },
      delimiter: { value: "C", summary: "between cells of CSV, or tab; default: a comma" },
    },
    examples: [words.example, `${words.example} --dry-run`],
    notes: notesOf(kinds, words.more),
    run: async (given, environment, terminal) => {
      const file = fileOf(given);
      const isUpdate = given.has("update");
      return await inWorkspace({ command: name, given, environment }, async (session) => {
        const principal = byCommandLine(session.context.workspace);
        return await asCommandErrors(async () => {
          const id = await idOfImport(file, { kind, isUpdate });
          const record = new ImportRecord(id, { principal, action: `cli ${name}` });
          const plan: ImportPlan = {
            kind,
            file,
            fieldKinds: kinds,
            isUpdate,
            skipsFaulty: given.has("skip-faulty"),
            words: WORDS,
            caller: async () => await Promise.resolve(session),
            record,
            doneUpTo: await record.lastRow(session.context),
            handledUpTo: 0,
            batchRows: BATCH_ROWS,
            transactionMs: TRANSACTION_MS,
            pace: async () => await Promise.resolve(),
            interruption: terminal.interruption(),
          };
          return await importFile(plan, { isDryRun: given.has("dry-run"), terminal });
        });
      });
    },
  };
}

/** @throws {CommandError} instead of faults of the file and of a second run. */
async function asCommandErrors(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileFault) throw new CommandError(error.message, { cause: error });
    if (!(error instanceof AnotherRunError)) throw error;
    throw new CommandError(
      "Another run of this import has written rows in the meantime, so this one has stopped. " +
        "When the other has ended, run the same command again: it continues where that one was.",
      { cause: error },
    );
  }
}

function notesOf(kinds: ReadonlyMap<string, FieldKind>, more: string): string {
  const columns = [...kinds.keys()].join(", ").split(" ");
  return `${wrapped("Columns, or fields of the objects:", columns)}

${more}The values are those of the API. In CSV an empty cell keeps the value of a field, or its
default; items of a list are separated by |; objects and lists of objects are JSON.
Rows are numbered as in a spreadsheet: the header row is row 1.

The whole file is checked first. If a row has a fault, nothing is written, unless
--skip-faulty leaves that row out. Run the same command again after it was stopped or
killed: the import continues where it was. Running a finished import again does nothing.`;
}

function fileOf(given: CommandArguments): ImportFile {
  const delimiter = delimiterOf(given.text("delimiter") ?? ",");
  if (delimiter === undefined) throw new UsageError("--delimiter must be one character, or tab.");
  const path = given.operand;
  const format = formatOf(path, given.text("format"));
  return { name: path, format, delimiter, bytes: () => fileBytes(path) };
}

/** The format of a file, from the option or from the extension. @throws {UsageError} when neither gives one. */
function formatOf(path: string, asked: string | undefined): FileFormat {
  const format = formatOfName(asked === undefined ? path : `.${asked}`);
  if (format !== undefined) return format;
  throw new UsageError(
    asked === undefined
      ? `${path} ends neither in .csv nor in .json or .jsonl: set --format.`
      : `--format ${asked} is not one of csv, json.`,
  );
}

async function importFile(
  plan: ImportPlan,
  { isDryRun, terminal }: { readonly isDryRun: boolean; readonly terminal: Terminal },
): Promise<string> {
  const faults = new FaultList(ROWS_SHOWN_MAX);
  const checking = new Progress(terminal.report, "checked");
  const checked = await check(
    plan,
    async () => await checkFile(plan, faults, (rows) => checking.add(rows)),
  );
  const faulty = faults.rows.size;
  if (faulty > 0 && (isDryRun || !plan.skipsFaulty)) throw refused(plan, checked, faults);
  if (isDryRun)
    return `${checked.rows} rows without faults: ${expectedCounts(checked, plan)}. Nothing was written.`;
  const writing = new Progress(terminal.report, "written");
  const written = await write(
    async () => await writeFile(plan, faults, (rows) => writing.add(rows)),
  );
  for (const line of faultLines(faults)) terminal.report(line);
  const outcome = [
    `${written.created} created`,
    ...(plan.isUpdate ? [`${written.updated} updated`] : []),
    ...(checked.alreadyWritten > 0
      ? [`${checked.alreadyWritten} already written by an earlier run of this file`]
      : []),
    ...(faults.rows.size > 0 ? [`${faults.rows.size} left out`] : []),
  ].join(", ");
  const left =
    checked.toCreate +
    checked.toUpdate -
    written.created -
    written.updated -
    (faults.rows.size - faulty);
  if (left > 0)
    throw new CommandError(
      `Stopped: ${outcome}, ${left} rows are left. Run the same command again to continue.`,
    );
  return `${checked.rows} rows of ${plan.file.name}: ${outcome}.`;
}

async function check(plan: ImportPlan, work: () => Promise<Checked>): Promise<Checked> {
  try {
    return await work();
  } catch (error) {
    if (!plan.interruption.aborted) throw error;
    throw new CommandError("Stopped before anything was written.", { cause: error });
  }
}

async function write<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FaultyRow)) throw error;
    const faults = new FaultList(ROWS_SHOWN_MAX);
    faults.add(error.number, error.faults);
    throw new CommandError(
      `Stopped at a row that had no fault when the file was checked. The rows before it may already be written, ` +
        `${KEEP_THE_FILE}\n${faultLines(faults).join("\n")}`,
      { cause: error },
    );
  }
}

function refused({ file }: ImportPlan, checked: Checked, faults: FaultList): CommandError {
  const { size } = faults.rows;
  const { rows, alreadyWritten } = checked;
  const advice =
    alreadyWritten > 0
      ? `An earlier run has written ${alreadyWritten} rows, ${KEEP_THE_FILE}`
      : "Fix them, or leave them out with --skip-faulty.";
  return new CommandError(
    `${size} of ${rows} rows of ${file.name} ${size === 1 ? "has" : "have"} faults, so nothing is written. ` +
      `${advice}\n${faultLines(faults).join("\n")}`,
  );
}

function expectedCounts({ toCreate, toUpdate, alreadyWritten }: Checked, plan: ImportPlan): string {
  return [
    `${toCreate} would be created`,
    ...(plan.isUpdate ? [`${toUpdate} updated`] : []),
    ...(alreadyWritten > 0
      ? [`${alreadyWritten} are already written by an earlier run of this file`]
      : []),
  ].join(", ");
}

export const importCommands: readonly Command[] = [
  importCommand(importedOffers, {
    example: "offer import offers.csv --workspace acme",
    more:
      "advertiser takes the id or the name of an advertiser instead of advertiser_id; affiliates takes codes\n" +
      "of partners that get access. With --update events are changed or added by their codes.\n",
  }),
  importCommand(importedAffiliates, {
    example: "affiliate import partners.csv --workspace acme",
    more: "",
  }),
  importCommand(importedAdvertisers, {
    example: "advertiser import advertisers.jsonl --workspace acme --update",
    more: "",
  }),
];
