import { z } from "zod";
import { adminWrite } from "../../access/access-of-operations.ts";
import { authorize } from "../../access/authorize.ts";
import { invalidParameter } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { formatOfName } from "./file/file-rows.ts";
import type { FileFormat } from "./file/source-file.ts";
import { CreateQuery, ShownImport, shownImport } from "./import-fields.ts";
import { getImport } from "./import-of-path.ts";
import { accessOfKind } from "./imported-kinds.ts";
import { FILE_BYTES_MAX, receiveImport } from "./receive-import.ts";
import { OPEN_IMPORTS_MAX } from "./uploads.ts";

export const createImport: Operation = operation({
  name: "createImport",
  method: "POST",
  path: "/imports",
  tag: "Management",
  summary: "Import a file",
  description:
    "Stores the file and answers; the import then runs in the background, and `GET /imports/{id}` shows its progress. A row has the rules of " +
    "creating or changing one record, and the key needs the same permission. Nothing is written if a row has a fault, unless `skip_faulty` is set. " +
    `A workspace can have at most ${OPEN_IMPORTS_MAX} unfinished imports. If the same file is sent again with the same options while its import is ` +
    "unfinished, the answer is that import. If it is sent again later, rows are left out that were written within 30 days, also by the command line.",
  access: adminWrite(),
  input: { query: CreateQuery },
  fileBody: {
    bytesMax: FILE_BYTES_MAX,
    description:
      "The file itself, at most 64 MiB, UTF-8: CSV with a header row of field names, or a JSON array of objects, or JSON lines. In CSV an empty " +
      "cell leaves the field out, items of a list are separated by `|`, objects are JSON.",
    example: "code,name,email\r\nANNA2026,Anna Media,anna@media.example\r\n",
  },
  output: z.object({ data: ShownImport }),
  status: 202,
  otherStatus: 200,
  failures: ["conflict", "forbidden"],
  run: async (context, { query, file }) => {
    authorize(context.principal, accessOfKind(query.kind));
    if (file === undefined) throw new Error("an import was reached without its file");
    const asked = { ...query, delimiter: query.delimiter ?? ",", format: formatOf(query) };
    const { id, isNew } = await receiveImport(context, asked, file);
    const stored = await getImport(context, id);
    context.imports?.due();
    return { status: isNew ? 202 : 200, body: { data: shownImport(context, stored) } };
  },
});

/** @throws {ApiError} `invalid_parameter` if neither the parameter nor the name gives it. */
function formatOf({
  format,
  name,
}: {
  readonly format?: FileFormat | undefined;
  readonly name: string;
}): FileFormat {
  const found = format ?? formatOfName(name);
  if (found !== undefined) return found;
  throw invalidParameter(
    "format",
    "expected csv or json, unless name ends in .csv, .json, .jsonl or .ndjson",
  );
}
