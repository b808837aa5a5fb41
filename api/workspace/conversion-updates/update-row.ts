import {
  AMOUNT_STORED_MAX,
  amountFault,
  formatAmount,
  parseSentAmount,
} from "../../../schemas/money/amount.ts";
import { isCurrency } from "../../../schemas/money/currencies.ts";
import { isStorable } from "../../fields/body-fields.ts";
import type { FileRow } from "../imports/file/file-row.ts";
import { storableText } from "../imports/stored-faults.ts";
import { statusOfWord, UPDATE_FIELDS, type UpdateField } from "./column-names.ts";

/** A row as it is stored: values in the form in which they are compared, and faults by field. */
export type UpdateRow = {
  readonly number: number;
  readonly fields: Readonly<Partial<Record<UpdateField, string>>>;
  readonly faults: Readonly<Record<string, string>>;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const CLICK_ID = /^[0-9a-f]{32}$/i;
const TEXT_MAX: Readonly<Partial<Record<UpdateField, number>>> = {
  offer: 100,
  txid: 128,
  event: 64,
  reason: 200,
  note: 10_000,
};
const VALUE_FIELDS: readonly UpdateField[] = [
  "status",
  "sale_amount",
  "revenue",
  "payout",
  "reason",
  "note",
];

/** Of a value that is refused. */
const SHOWN_MAX = 200;

type Read = { readonly value: string } | { readonly fault: string };

/** Reads a row of a file. `hasOffer`: rows without an offer mean the offer of the whole file. */
export function readUpdateRow(row: FileRow, hasOffer: boolean): UpdateRow {
  const fields: Partial<Record<UpdateField, string>> = {};
  const faults: Record<string, string> = {};
  for (const field of UPDATE_FIELDS) {
    const text = textOf(row.fields[field]);
    if (text === undefined) faults[field] = "expected text";
    else if (text !== "") {
      const read = readValue(field, text);
      // What was sent is kept, so that a refused row shows it.
      fields[field] = "value" in read ? read.value : storableText(text, SHOWN_MAX);
      if ("fault" in read) faults[field] = read.fault;
    }
  }
  if (row.fault !== undefined) faults[""] = row.fault;
  else Object.assign(faults, faultsOfNames({ fields, faults }, hasOffer), faults);
  return { number: row.number, fields, faults };
}

function faultsOfNames(
  { fields, faults }: Pick<UpdateRow, "fields" | "faults">,
  hasOffer: boolean,
): Readonly<Record<string, string>> {
  const { conversion_id: id, txid, click_id: clickId, offer } = fields;
  if (id === undefined && txid === undefined && clickId === undefined)
    return { "": "names no conversion: give conversion_id, offer and txid, or click_id" };
  if (id === undefined && txid !== undefined && offer === undefined && !hasOffer)
    return { offer: "required beside txid" };
  if (VALUE_FIELDS.every((field) => fields[field] === undefined && faults[field] === undefined))
    return { status: "required unless there is an amount, a reason or a note" };
  return {};
}

/** "" for a value that is left out. Undefined for what is no text. JSON numbers must be whole: another one may have lost digits. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value.trim();
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : undefined;
}

function readValue(field: UpdateField, text: string): Read {
  switch (field) {
    case "conversion_id":
      return UUID.test(text) ? { value: text.toLowerCase() } : { fault: "expected a UUID" };
    case "click_id":
      return CLICK_ID.test(text)
        ? { value: text.toLowerCase() }
        : { fault: "expected 32 hex characters" };
    case "status": {
      const status = statusOfWord(text);
      return status === undefined
        ? { fault: "expected approved, pending, rejected or a usual word for one of them" }
        : { value: status };
    }
    case "sale_amount":
    case "revenue":
    case "payout":
      return readMoney(text);
    case "currency":
      return isCurrency(text.toUpperCase())
        ? { value: text.toUpperCase() }
        : { fault: "expected an ISO 4217 code such as USD" };
    default:
      return readText(text, TEXT_MAX[field] ?? 0);
  }
}

function readMoney(text: string): Read {
  const amount = parseSentAmount(text);
  if (amount === undefined) return { fault: amountFault(text) ?? "must not be negative" };
  return amount > AMOUNT_STORED_MAX ? { fault: "is too large" } : { value: formatAmount(amount) };
}

function readText(text: string, max: number): Read {
  if (text.length > max) return { fault: `expected at most ${max} characters` };
  return isStorable(text) ? { value: text } : { fault: "contains a character that is not allowed" };
}
