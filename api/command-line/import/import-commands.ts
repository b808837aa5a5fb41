import type { Command, CommandArguments, Terminal } from "../command.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { type FieldKind, fieldKinds } from "../field-values.ts";
import { wrapped } from "../help.ts";
import { IN_WORKSPACE } from "../options.ts";
import { inWorkspace, type Session } from "../session.ts";
import { type Checked, checkFile } from "./check-file.ts";
import { FaultList } from "./fault-list.ts";
import { formatOf, type ImportFile } from "./file-rows.ts";
import type { ImportPlan } from "./import-plan.ts";
import { ImportRecord, idOfImport } from "./import-record.ts";
import { importedAdvertisers, importedAffiliates } from "./imported-accounts.ts";
import { importedOffers } from "./imported-offers.ts";
import type { ImportedKind } from "./imported-row.ts";
import { Progress } from "./progress.ts";
import { FaultyRow } from "./row-faults.ts";
import { writeFile } from "./write-file.ts";

const TEXT_KIND: FieldKind = { type: "text", isNullable: false };
/** The content of the file identifies the import: with a changed file, rows without a key would be written again. */
const KEEP_THE_FILE =
  "so do not change the file: run the command again with --skip-faulty, which leaves only faulty rows out, " +
  "and import these, corrected, from a file of its own.";
const LIST_KIND: FieldKind = { type: "list", isNullable: false };

function importCommand(
  kind: ImportedKind,
  words: { readonly example: string; readonly more: string },
): Command {
  const name = `${kind.noun} import`;
  const kinds = kindsOf(kind);
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
      return await inWorkspace({ command: name, given, environment }, async (session) => {
        const options = { command: name, isUpdate: given.has("update") };
        const record = new ImportRecord(name, await idOfImport(file.path, options));
        const plan: ImportPlan = {
          kind,
          file,
          fieldKinds: kinds,
          isUpdate: options.isUpdate,
          skipsFaulty: given.has("skip-faulty"),
          record,
          doneUpTo: await record.lastRow(session.context),
          interruption: terminal.interruption(),
        };
        return await importFile(session, plan, { isDryRun: given.has("dry-run"), terminal });
      });
    },
  };
}

function kindsOf({ create, extras }: ImportedKind): ReadonlyMap<string, FieldKind> {
  return new Map([
    ...fieldKinds(create.input.body),
    ...Object.entries(extras).map(([extra, field]): [string, FieldKind] => [
      extra,
      field === undefined ? LIST_KIND : TEXT_KIND,
    ]),
  ]);
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
  const delimiter = given.text("delimiter") ?? ",";
  const character = delimiter === "tab" ? "\t" : delimiter;
  if (character.length !== 1 || /["\r\n]/.test(character))
    throw new UsageError("--delimiter must be one character, or tab.");
  return {
    path: given.operand,
    format: formatOf(given.operand, given.text("format")),
    delimiter: character,
  };
}

async function importFile(
  session: Session,
  plan: ImportPlan,
  { isDryRun, terminal }: { readonly isDryRun: boolean; readonly terminal: Terminal },
): Promise<string> {
  const { context } = session;
  const faults = new FaultList();
  const checking = new Progress(terminal.report, "checked");
  const checked = await check(
    plan,
    async () => await checkFile(context, plan, faults, (rows) => checking.add(rows)),
  );
  const faulty = faults.rows.size;
  if (faulty > 0 && (isDryRun || !plan.skipsFaulty)) throw refused(plan, checked, faults);
  if (isDryRun)
    return `${checked.rows} rows without faults: ${expectedCounts(checked, plan)}. Nothing was written.`;
  const writing = new Progress(terminal.report, "written");
  const written = await write(
    async () => await writeFile(session, plan, faults, (rows) => writing.add(rows)),
  );
  for (const line of faults.lines) terminal.report(line);
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
  return `${checked.rows} rows of ${plan.file.path}: ${outcome}.`;
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
    const faults = new FaultList();
    faults.add(error.number, error.faults);
    throw new CommandError(
      `Stopped at a row that had no fault when the file was checked. The rows before it may already be written, ` +
        `${KEEP_THE_FILE}\n${faults.lines.join("\n")}`,
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
    `${size} of ${rows} rows of ${file.path} ${size === 1 ? "has" : "have"} faults, so nothing is written. ` +
      `${advice}\n${faults.lines.join("\n")}`,
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
