import { z } from "zod";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { isStorable, shownTime } from "../../fields/body-fields.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { sentAs } from "../../operation/parameters.ts";
import { delimiterOf } from "./file/file-rows.ts";
import { FILE_FORMATS } from "./file/source-file.ts";
import { IMPORT_KINDS } from "./imported-kinds.ts";
import { SHOWN_STATUSES, type StoredImport } from "./stored-import.ts";

const NAME_MAX = 255;
const TAB = "\t";

function flag(description: string): z.ZodType<boolean, string | undefined> {
  const read = z
    .enum(["0", "1"], "expected 0 or 1")
    .transform((value) => value === "1")
    .default(false);
  return sentAs(read, z.enum(["0", "1"]).meta({ default: "0", description }));
}

export const kindParam = z.enum(IMPORT_KINDS, `expected one of ${IMPORT_KINDS.join(", ")}`);

export const CreateQuery = z.object({
  kind: kindParam,
  format: z.enum(FILE_FORMATS, "expected csv or json").optional(),
  delimiter: sentAs(
    z
      .string()
      .transform(delimiterOf)
      .refine((delimiter) => delimiter !== undefined, "expected one character, or tab")
      .default(","),
    z.string().meta({ default: "," }),
  ),
  dry_run: flag("`1` only checks the file: it reports every fault and writes nothing"),
  update: flag(
    "`1` changes existing records, which it finds by code, or advertisers by name. Otherwise an existing record is a fault of its row",
  ),
  skip_faulty: flag(
    "`1` leaves faulty rows out. Otherwise nothing is written if a row has faults, and the check ends at the 200th such row",
  ),
  name: z
    .string()
    .max(NAME_MAX, `expected at most ${NAME_MAX} characters`)
    .refine(isStorable, "contains a character that is not allowed")
    .default(""),
});

const count = z.int().min(0);

const shape = {
  id: z.int(),
  kind: z.enum(IMPORT_KINDS),
  name: z.string(),
  format: z.enum(FILE_FORMATS),
  delimiter: z.string(),
  dry_run: z.boolean(),
  update: z.boolean(),
  skip_faulty: z.boolean(),
  status: z.enum(SHOWN_STATUSES),
  message: z.string(),
  bytes: count,
  rows_checked: count,
  rows_faulty: count,
  rows_to_create: count,
  rows_to_update: count,
  rows_already_written: count,
  rows_created: count,
  rows_updated: count,
  rows_left_out: count,
  created_by: z.string(),
  created_at: shownTime,
  started_at: shownTime.nullable(),
  ended_at: shownTime.nullable(),
};

export const ShownImport = shownSchema("import", shape).meta({ id: "Import" });

const ShownFault = shownSchema("import_fault", {
  row: z.int(),
  field: z.string(),
  message: z.string(),
}).meta({ id: "ImportFault" });

export const ShownImportWithFaults = shownSchema("import", {
  ...shape,
  faults: z.array(ShownFault),
}).meta({ id: "ImportWithFaults" });

/** As the caller sees it, without faults. */
export function shownImport(
  { principal }: OperationContext,
  row: StoredImport,
): Record<string, unknown> {
  return showTo(principal.role, "import", {
    ...row,
    faults: undefined,
    delimiter: row.delimiter === TAB ? "tab" : row.delimiter,
  });
}

/** With the faults of its rows. */
export function shownWithFaults(
  context: OperationContext,
  row: StoredImport,
): Record<string, unknown> {
  const faults = row.faults.map((fault) => showTo(context.principal.role, "import_fault", fault));
  return { ...shownImport(context, row), faults };
}
