import { z } from "zod";
import { resolveRange } from "../../../schemas/time/range.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { invalidParameter } from "../../operation/errors.ts";
import {
  type Operation,
  type OperationContext,
  type OperationResult,
  operation,
} from "../../operation/operation.ts";
import { type AskedUpdate, OPEN_UPDATES_MAX, UpdateStore } from "./conversion-updates.ts";
import { asRefusal, type ReadUpdate, receiveUpdate, UPDATE_ROWS_MAX } from "./receive-update.ts";
import { CreateUpdateQuery, ShownUpdate, shownUpdate } from "./update-fields.ts";
import { getUpdate } from "./update-of-path.ts";

const FILE_BYTES_MAX = 64 * 1024 ** 2;
const RANGE_DAYS_MAX = 400;
const MISSING_REASON = "not in the file";

export const createConversionUpdate: Operation = operation({
  name: "createConversionUpdate",
  method: "POST",
  path: "/conversion-updates",
  tag: "Conversions",
  summary: "Check a file of confirmed conversions",
  description:
    "What an advertiser confirms at the end of a month. Stores the rows of the file and checks them in the background: nothing is changed before " +
    "`POST /conversion-updates/{id}/apply`. A row names a conversion by `conversion_id`, by `offer` (id or code) and `txid`, or by `click_id`, the latter " +
    "two also with `event`, and has any of `status`, `sale_amount`, `revenue`, `payout`, `currency`, `reason` and `note`. The usual names of columns and " +
    `statuses are recognised. A workspace can have at most ${OPEN_UPDATES_MAX} unfinished files.`,
  access: adminWrite("conversions.write"),
  input: { query: CreateUpdateQuery },
  fileBody: {
    bytesMax: FILE_BYTES_MAX,
    description:
      `The file itself, at most 64 MiB and ${UPDATE_ROWS_MAX} rows, UTF-8: CSV with a header row and commas, semicolons or tabs, or a JSON array of ` +
      "objects, or JSON lines.",
    example: "offer,txid,status,sale_amount\r\nSHOES,A-1001,approved,49.90\r\n",
  },
  output: z.object({ data: ShownUpdate }),
  status: 202,
  keepsAnswer: true,
  failures: ["conflict"],
  run: async (context, { query, file }) => {
    if (file === undefined) throw new Error("a file of conversions was reached without the file");
    const { db, principal, requestId } = context;
    const sent = {
      ...askedUpdate(context, query),
      columns: query.columns ?? {},
      pieces: file.pieces(),
    };
    const begin = async (id: number, read: ReadUpdate): Promise<OperationResult> => {
      const end = async (within: Pick<OperationContext, "db" | "imports">) => {
        await new UpdateStore(within.db).begin(id, read);
        within.imports?.due();
        const row = await getUpdate({ ...context, db: within.db }, id);
        return { body: { data: shownUpdate(context, row) } };
      };
      return await (context.answerOnce === undefined ? end(context) : context.answerOnce(end));
    };
    return await asRefusal(
      async () =>
        await receiveUpdate(new UpdateStore(db), { principal, requestId }, { sent, begin }),
    );
  },
});

/** @throws {ApiError} `invalid_parameter` */
export function askedUpdate(
  { nowMs, workspace }: Pick<OperationContext, "nowMs" | "workspace">,
  query: z.infer<typeof CreateUpdateQuery>,
): AskedUpdate {
  const { missing = "keep", offer_ids: offerIds = [], from, to, tz } = query;
  const asked = {
    name: query.name,
    offerIds,
    missing,
    missingReason: query.missing_reason ?? MISSING_REASON,
  };
  if (missing === "keep") return { ...asked, missingFromMs: undefined, missingToMs: undefined };
  if (offerIds.length === 0) throw invalidParameter("offer_ids", "required with missing=reject");
  if (from === undefined) throw invalidParameter("from", "required with missing=reject");
  if (to === undefined) throw invalidParameter("to", "required with missing=reject");
  const resolved = resolveRange(
    { from, to, tz },
    {
      nowMs,
      workspaceTimezone: workspace.timezone,
      defaultPreset: "today",
      daysMax: RANGE_DAYS_MAX,
    },
  );
  if (resolved.kind === "refused") throw invalidParameter(resolved.param, resolved.message);
  const { fromMs, toMs } = resolved.range;
  return { ...asked, missingFromMs: fromMs, missingToMs: toMs + 1 };
}
