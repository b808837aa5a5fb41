import { z } from "zod";
import { LEFT_OUT, masked } from "../../../catalog/affiliates/payment-mask.ts";
import { country, text } from "../../../fields/body-fields.ts";
import type { FieldFaults } from "../../../operation/operation.ts";
import { ibanFault, isBic, plainBankCode } from "./bank-codes.ts";

export const PAYMENT_METHODS = ["wire", "wallet_a", "wallet_b", "crypto", "other"] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

const NAME_MAX = 140;
const ACCOUNT_MAX = 254;
const CODE_MAX = 35;
const NOTE_MAX = 500;

const PostalAddress = z
  .strictObject(
    {
      street: text(NAME_MAX).default(""),
      postcode: text(CODE_MAX).default(""),
      town: text(CODE_MAX).min(1, "expected a town"),
      country,
    },
    "expected an object",
  )
  .meta({ id: "PostalAddress" });
export type PostalAddress = z.output<typeof PostalAddress>;

/** The details of every method. {@link detailFaults} says which a method has. */
export const PaymentDetails = z.strictObject(
  {
    holder: text(NAME_MAX).optional().meta({ description: "wire: name of the account's holder" }),
    iban: text(50)
      .optional()
      .meta({ description: "wire: an IBAN, or the account number with its bank" }),
    bic: text(20).optional(),
    account_number: text(CODE_MAX).optional().meta({ description: "wire without an IBAN" }),
    bank_code: text(CODE_MAX).optional().meta({ description: "wire without an IBAN" }),
    bank_country: country.optional().meta({ description: "wire without an IBAN" }),
    bank_name: text(NAME_MAX).optional(),
    address: z
      .union(
        [PostalAddress, text(ACCOUNT_MAX)],
        "expected a postal address, or the address of a wallet",
      )
      .optional()
      .meta({
        description: "wire: the holder's postal address; crypto: the address of the wallet",
      }),
    account: text(ACCOUNT_MAX).optional().meta({ description: "wallet_a and wallet_b" }),
    network: text(CODE_MAX).optional().meta({ description: "crypto: such as `BTC`" }),
    note: text(NOTE_MAX).optional().meta({ description: "other: how to pay" }),
  },
  "expected an object",
);
export type PaymentDetails = z.output<typeof PaymentDetails>;
type Detail = keyof PaymentDetails;

const OF_METHOD: Readonly<Record<PaymentMethod, readonly Detail[]>> = {
  wire: [
    "holder",
    "iban",
    "bic",
    "account_number",
    "bank_code",
    "bank_country",
    "bank_name",
    "address",
  ],
  wallet_a: ["account"],
  wallet_b: ["account"],
  crypto: ["network", "address"],
  other: ["note"],
};

/** Codes of banks without spaces and in capitals, and no empty texts. */
export function tidyDetails(details: PaymentDetails): PaymentDetails {
  const { iban, bic, ...more } = details;
  const tidied = {
    ...more,
    ...(iban === undefined ? {} : { iban: plainBankCode(iban) }),
    ...(bic === undefined ? {} : { bic: plainBankCode(bic) }),
  };
  return Object.fromEntries(Object.entries(tidied).filter(([, value]) => value !== ""));
}

/** What is wrong with tidied details of a method, by `payment_details.<name>` (N32). */
export function detailFaults(method: PaymentMethod, details: PaymentDetails): FieldFaults {
  const faults: Record<string, string> = {};
  const blame = (name: Detail, fault: string): void => {
    faults[`payment_details.${name}`] ??= fault;
  };
  for (const name of namesOf(details)) {
    if (!OF_METHOD[method].includes(name)) blame(name, `${method} has no such detail`);
  }
  const need = (...names: readonly Detail[]): void => {
    for (const name of names) if (details[name] === undefined) blame(name, "is missing");
  };
  if (method === "wire") wireFaults(details, { blame, need });
  else need(...OF_METHOD[method]);
  if (method === "crypto" && typeof details.address === "object")
    blame("address", "expected the address of a wallet");
  return faults;
}

function wireFaults(
  details: PaymentDetails,
  {
    blame,
    need,
  }: {
    readonly blame: (name: Detail, fault: string) => void;
    readonly need: (...names: readonly Detail[]) => void;
  },
): void {
  const { iban, bic, account_number: account, address } = details;
  need("holder");
  if (iban === undefined && account === undefined)
    blame("iban", "expected an IBAN, or account_number with bank_code and bank_country");
  if (iban !== undefined) {
    const fault = ibanFault(iban);
    if (fault !== undefined) blame("iban", fault);
    if (account !== undefined) blame("account_number", "the IBAN already says it");
  }
  if (account !== undefined) need("bank_code", "bank_country");
  if (bic !== undefined && !isBic(bic)) blame("bic", "expected 8 or 11 letters and digits");
  if (typeof address === "string") blame("address", "expected a postal address");
}

/** Names of the details that are left as they are in answers: they alone pay nobody. */
const SHOWN: ReadonlySet<string> = new Set([
  "holder",
  "bic",
  "bank_name",
  "bank_country",
  "network",
]);

/** The details as answers show them: `DE89…3000`. */
export function maskDetails(details: PaymentDetails): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value = ""]): [string, string] => {
      if (typeof value === "object") return [name, `${value.town}, ${value.country}`];
      return [name, SHOWN.has(name) ? value : masked(value)];
    }),
  );
}

/**
 * The details in a partner's texts of the contract (2.6), whose names are free: "IBAN" and "iban" are the same. Undefined if they do not say
 * how to pay by the method.
 */
export function detailsOfTexts(
  method: PaymentMethod,
  texts: Readonly<Record<string, string>>,
): PaymentDetails | undefined {
  const entries = Object.entries(texts).filter(([, value]) => value.trim() !== "");
  // Masks of details that were entered in another way pay nobody.
  if (entries.length === 0 || entries.some(([, value]) => value.includes(LEFT_OUT)))
    return undefined;
  if (method === "other")
    return {
      note: entries
        .map(([name, value]) => `${name}: ${value}`)
        .join(", ")
        .slice(0, NOTE_MAX),
    };
  const named = new Map(
    entries.map(([name, value]) => [
      name
        .trim()
        .toLowerCase()
        .replaceAll(/[\s-]+/g, "_"),
      value.trim(),
    ]),
  );
  const known = OF_METHOD[method].flatMap((name): [string, string][] => {
    const value = named.get(name);
    return value === undefined || (method === "wire" && name === "address") ? [] : [[name, value]];
  });
  const parsed = PaymentDetails.safeParse(Object.fromEntries(known));
  if (!parsed.success) return undefined;
  const details = tidyDetails(parsed.data);
  return Object.keys(detailFaults(method, details)).length === 0 ? details : undefined;
}

function namesOf(details: PaymentDetails): Detail[] {
  const names: readonly Detail[] = OF_METHOD.wire.concat("account", "network", "note");
  return names.filter((name) => details[name] !== undefined);
}
