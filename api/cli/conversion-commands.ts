import { pause } from "../../schemas/host/pause.ts";
import { getOffer } from "../catalog/offers/get-offer.ts";
import { ApiError } from "../operation/errors.ts";
import { UpdateStore } from "../workspace/conversion-updates/conversion-updates.ts";
import { askedUpdate } from "../workspace/conversion-updates/create-conversion-update.ts";
import { applyConversionUpdate } from "../workspace/conversion-updates/operations.ts";
import {
  asRefusal,
  type ReadUpdate,
  receiveUpdate,
} from "../workspace/conversion-updates/receive-update.ts";
import { stepUpdate } from "../workspace/conversion-updates/run-updates.ts";
import {
  findUpdate,
  listUpdateRows,
  type StoredUpdate,
} from "../workspace/conversion-updates/stored-update.ts";
import { CreateUpdateQuery } from "../workspace/conversion-updates/update-fields.ts";
import type { Command, CommandArguments, Terminal } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { fileBytes } from "./import/file-bytes.ts";
import { IN_WORKSPACE } from "./options.ts";
import { call, inWorkspace, type Session } from "./session.ts";

const COMMAND = "conversion update";
const REFUSED_SHOWN_MAX = 50;
const REPORT_EVERY_MS = 500;
/** While another process does the present step. */
const WAIT_MS = 100;

const updateConversions: Command = {
  name: COMMAND,
  operand: { name: "FILE", summary: "CSV with a header row, a JSON array or JSON lines; UTF-8" },
  summary: "changes conversions as an advertiser confirmed them in a file",
  options: {
    ...IN_WORKSPACE,
    "dry-run": { summary: "checks the file and changes nothing" },
    missing: {
      value: "keep|reject",
      summary: "what becomes of conversions that the file does not name; default: keep",
    },
    from: { value: "DAY", summary: "first day of missing conversions" },
    to: { value: "DAY", summary: "last day of missing conversions" },
    offer: {
      value: "CODES",
      summary: "codes or IDs of the offers of the file, separated by commas",
    },
  },
  examples: [
    `${COMMAND} march.csv --workspace acme --dry-run`,
    `${COMMAND} march.csv --workspace acme --offer SHOES --missing reject --from 2026-03-01 --to 2026-03-31`,
  ],
  notes:
    "A row names a conversion by conversion_id, by offer and txid, or by click_id, the latter two\n" +
    "also with event, and has any of status, sale_amount, revenue, payout, currency, reason, note.\n" +
    "Usual names of columns and statuses are recognised. The whole file is checked first; refused\n" +
    "rows are left out. A file that is sent again changes nothing. Undo it in the console, or by\n" +
    "POST /conversion-updates/ID/undo.",
  run: async (given, environment, terminal) =>
    await inWorkspace({ command: COMMAND, given, environment }, async (session) => {
      const id = await receive(session, given);
      const checked = await carry(session, id, terminal);
      await reportRefused(session, id, terminal);
      if (checked.status === "failed") throw new CommandError(checked.message);
      if (given.has("dry-run")) return `${outcomeOf(checked)}. Nothing was changed.`;
      await call(session, applyConversionUpdate, { path: { id: String(id) } });
      const applied = await carry(session, id, terminal);
      if (applied.status === "done") return `Update ${id}: ${outcomeOf(applied)}.`;
      throw new CommandError(
        `Update ${id} is ${applied.status}: ${outcomeOf(applied)}. ${applied.message}`,
      );
    }),
};

async function receive(session: Session, given: CommandArguments): Promise<number> {
  const { context } = session;
  const path = given.operand;
  const offers = (given.text("offer") ?? "").split(",").filter((one) => one !== "");
  const offerIds: number[] = [];
  for (const id of offers) offerIds.push((await call(session, getOffer, { path: { id } })).id);
  return await asCommandError(async () => {
    const query = CreateUpdateQuery.safeParse({
      name: path.slice(-255),
      missing: given.text("missing"),
      from: given.text("from"),
      to: given.text("to"),
      ...(offerIds.length === 0 ? {} : { offer_ids: offerIds.join(",") }),
    });
    if (!query.success)
      throw new CommandError(query.error.issues.map(({ message }) => message).join("; "));
    const { db, principal, requestId } = context;
    const sent = { ...askedUpdate(context, query.data), columns: {}, pieces: fileBytes(path) };
    const store = new UpdateStore(db);
    const begin = async (id: number, read: ReadUpdate): Promise<number> => {
      await store.begin(id, read);
      return id;
    };
    return await asRefusal(
      async () => await receiveUpdate(store, { principal, requestId }, { sent, begin }),
    );
  });
}

async function asCommandError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message, details } = error;
    // The message begins with the parameter, which is an option here.
    throw new CommandError(
      details?.param === undefined ? message : `--${message.replace("offer_ids", "offer")}`,
      { cause: error },
    );
  }
}

/** Does the present phase of an update to its end, together with the processes of the API. */
async function carry(
  { context: { db, workspace } }: Session,
  id: number,
  terminal: Terminal,
): Promise<StoredUpdate> {
  const interruption = terminal.interruption();
  let reportedAtMs = performance.now();
  for (;;) {
    const didStep = (await stepUpdate(db, id)) !== undefined;
    const found = await findUpdate(db, workspace.id, id);
    if (found === undefined) throw new CommandError("The update was deleted.");
    if (!["checking", "applying"].includes(found.status)) return found;
    if (interruption.aborted)
      throw new CommandError(
        `Update ${id} goes on in the service. POST /conversion-updates/${id}/stop ends it.`,
      );
    if (performance.now() - reportedAtMs > REPORT_EVERY_MS) {
      reportedAtMs = performance.now();
      const verb = found.status === "checking" ? "checked" : "applied";
      terminal.report(`${found.rows_done} of ${found.rows} rows ${verb}`);
    }
    if (!didStep) await pause(WAIT_MS, interruption);
  }
}

async function reportRefused(
  { context: { db } }: Session,
  id: number,
  terminal: Terminal,
): Promise<void> {
  const page = { after: undefined, rowsMax: REFUSED_SHOWN_MAX, filters: { outcome: "refused" } };
  for (const { number, faults } of await listUpdateRows(db, id, page))
    for (const [field, fault] of Object.entries(faults))
      terminal.report(`  row ${number}${field === "" ? "" : `: ${field}:`} ${fault}`);
}

/** How many rows there are, and what became of them. Missing conversions are rows that change. */
function outcomeOf({ counts: { missing, ...counts } }: StoredUpdate): string {
  const outcomes = Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b));
  const rows = outcomes.reduce((sum, [, count]) => sum + count, 0);
  const words = outcomes.map(([outcome, count]) => `${count} ${outcome.replaceAll("_", " ")}`);
  const more = missing === undefined ? [] : [`${missing} missing in the file`];
  return [`${rows} rows`, ...words, ...more].join(", ");
}

export const conversionCommands: readonly Command[] = [updateConversions];
