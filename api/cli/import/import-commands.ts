import type { FieldKind } from "../../http/field-values.ts";
import { FileFault } from "../../workspace/imports/file/file-fault.ts";
import { delimiterOf, formatOfName } from "../../workspace/imports/file/file-rows.ts";
import {
  faultyOf,
  type ImportedFile,
  importFile,
} from "../../workspace/imports/file/import-file.ts";
import type { ImportPlan } from "../../workspace/imports/file/import-plan.ts";
import type { ImportProgress } from "../../workspace/imports/file/import-progress.ts";
import {
  AnotherRunError,
  ImportRecord,
  idOfImport,
} from "../../workspace/imports/file/import-record.ts";
import {
  importedAdvertisers,
  importedAffiliates,
} from "../../workspace/imports/file/imported-accounts.ts";
import { importedOffers } from "../../workspace/imports/file/imported-offers.ts";
import { fieldKindsOf, type ImportedKind } from "../../workspace/imports/file/imported-row.ts";
import type { FileFormat, ImportFile } from "../../workspace/imports/file/source-file.ts";
import type { Command, CommandArguments, Terminal } from "../command.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { wrapped } from "../help.ts";
import { IN_WORKSPACE } from "../options.ts";
import { byCommandLine, inWorkspace } from "../session.ts";
import { faultLines, ROWS_SHOWN_MAX } from "./fault-lines.ts";
import { fileBytes } from "./file-bytes.ts";
import { Progress } from "./progress.ts";

const WORDS: ImportPlan["words"] = {
  update: "--update",
  skipFaulty: "--skip-faulty",
  delimiter: (name) => `--delimiter "${name}"`,
};

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
          const reported = new Progress(terminal.report);
          const plan: ImportPlan = {
            kind,
            file,
            fieldKinds: kinds,
            isDryRun: given.has("dry-run"),
            isUpdate,
            skipsFaulty: given.has("skip-faulty"),
            keptRowsMax: ROWS_SHOWN_MAX,
            words: WORDS,
            caller: async () => await Promise.resolve(session),
            record: new ImportRecord(id, { principal, action: `cli ${name}` }),
            onProgress: (progress) => reported.show(progress),
            interruption: terminal.interruption(),
          };
          return printed(plan, await importFile(plan), terminal);
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
        "When the other has ended, run the same command again: it leaves these rows as they are.",
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
killed: rows that are written are left as they are. Running a finished import again does nothing.`;
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

/** What the command prints. @throws {CommandError} unless the file is imported, or checked and without faults. */
function printed(
  plan: ImportPlan,
  { status, message, progress }: ImportedFile,
  terminal: Terminal,
): string {
  const lines = faultLines(progress.faults);
  const { rows, created, updated, faults } = progress;
  if (status === "refused" || status === "failed")
    throw new CommandError([message, ...lines].join("\n"));
  if (status === "checked" && lines.length > 0)
    throw new CommandError(
      [`${faultyOf(progress, false)}. Nothing was written.`, ...lines].join("\n"),
    );
  if (status === "checked")
    return `${rows} rows without faults: ${expectedCounts(progress, plan)}. Nothing was written.`;
  if (status === "interrupted" && progress.phase === "checking")
    throw new CommandError("Stopped before anything was written.");
  for (const line of lines) terminal.report(line);
  const outcome = outcomeOf(progress, plan);
  if (status === "written") return `${rows} rows of ${plan.file.name}: ${outcome}.`;
  const left = rows - progress.alreadyWritten - faults.rows.size - created - updated;
  throw new CommandError(
    `Stopped: ${outcome}, ${left} rows are left. Run the same command again to continue.`,
  );
}

function outcomeOf(
  { created, updated, alreadyWritten, faults }: ImportProgress,
  { isUpdate }: ImportPlan,
): string {
  return [
    `${created} created`,
    ...(isUpdate ? [`${updated} updated`] : []),
    ...(alreadyWritten > 0
      ? [`${alreadyWritten} already written by an earlier run of this file`]
      : []),
    ...(faults.rows.size > 0 ? [`${faults.rows.size} left out`] : []),
  ].join(", ");
}

function expectedCounts(
  { toCreate, toUpdate, alreadyWritten }: ImportProgress,
  plan: ImportPlan,
): string {
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
