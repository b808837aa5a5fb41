import { advertisers } from "../catalog/advertisers/advertisers.ts";
import { affiliates } from "../catalog/affiliates/affiliates.ts";
import { smartLinks } from "../catalog/management/smart-links.ts";
import { getOffer } from "../catalog/offers/get-offer.ts";
import { listOffers } from "../catalog/offers/list-offers.ts";
import { postbacks } from "../messages/postbacks/postbacks.ts";
import { webhooks } from "../messages/webhooks/webhooks.ts";
import type { Operation } from "../operation/operation.ts";
import type { Command, CommandArguments, CommandOption } from "./command.ts";
import { fieldLines } from "./field-lines.ts";
import { IN_WORKSPACE, JSON_OUTPUT } from "./options.ts";
import { call, inWorkspace, listAll, type ShownRecord } from "./session.ts";
import { table } from "./table.ts";

/** A kind of record that the command line lists and shows. */
type RecordKind = {
  readonly noun: string;
  readonly plural: string;
  readonly list: Operation;
  readonly get: Operation;
  /** What names one record, and an example of it. */
  readonly key: { readonly name: string; readonly example: string };
  /** Options of the list, each named like its query parameter. */
  readonly filters: Readonly<Record<string, CommandOption>>;
  /** Titles of the table and their fields. */
  readonly columns: Readonly<Record<string, string>>;
  /** Left out of lists: only `show` prints it. */
  readonly secret?: string;
  readonly howToMake: string;
};

const BY_STATUS = { status: { value: "S", summary: "only those with this status" } };
const BY_TEXT = { q: { value: "TEXT", summary: "only those whose name contains this" } };
const BY_ID = { name: "ID", example: "3" };

const KINDS: readonly RecordKind[] = [
  {
    noun: "offer",
    plural: "offers",
    list: listOffers,
    get: getOffer,
    key: { name: "CODE", example: "SUMMER" },
    filters: { ...BY_STATUS, ...BY_TEXT },
    columns: {
      ID: "id",
      CODE: "code",
      NAME: "name",
      STATUS: "status",
      VISIBILITY: "visibility",
      PAYS: "payout_type",
      PAYOUT: "payout",
      CUR: "currency",
    },
    howToMake: "`offer import` imports some, and POST /offers creates one.",
  },
  {
    noun: "affiliate",
    plural: "partners",
    list: affiliates.list,
    get: affiliates.get,
    key: { name: "CODE", example: "ANNA2024" },
    filters: { ...BY_STATUS, ...BY_TEXT },
    columns: {
      ID: "id",
      CODE: "code",
      NAME: "name",
      STATUS: "status",
      EMAIL: "email",
      COUNTRY: "country",
      CUR: "currency",
    },
    howToMake: "`affiliate import` imports some, and POST /affiliates creates one.",
  },
  {
    noun: "advertiser",
    plural: "advertisers",
    list: advertisers.list,
    get: advertisers.get,
    key: BY_ID,
    filters: { ...BY_STATUS, ...BY_TEXT },
    columns: {
      ID: "id",
      NAME: "name",
      STATUS: "status",
      EMAIL: "email",
      COUNTRY: "country",
      CUR: "currency",
    },
    secret: "postback_token",
    howToMake: "`advertiser import` imports some, and POST /advertisers creates one.",
  },
  {
    noun: "smart-link",
    plural: "smart links",
    list: smartLinks.list,
    get: smartLinks.get,
    key: BY_ID,
    filters: BY_STATUS,
    columns: {
      ID: "id",
      CODE: "code",
      NAME: "name",
      STATUS: "status",
      MODE: "mode",
      PARTNER: "affiliate_id",
    },
    howToMake: "POST /smart-links creates one.",
  },
  {
    noun: "postback",
    plural: "postbacks to partners",
    list: postbacks.list,
    get: postbacks.get,
    key: BY_ID,
    filters: BY_STATUS,
    columns: {
      ID: "id",
      PARTNER: "affiliate_id",
      OFFER: "offer_id",
      EVENT: "event_code",
      FIRES: "fire_on",
      STATUS: "status",
      URL: "url",
    },
    howToMake: "POST /postbacks creates one.",
  },
  {
    noun: "webhook",
    plural: "webhooks",
    list: webhooks.list,
    get: webhooks.get,
    key: BY_ID,
    filters: {},
    columns: { ID: "id", NAME: "name", ACTIVE: "active", URL: "url", EVENTS: "events" },
    secret: "secret",
    howToMake: "POST /webhooks creates one.",
  },
];

function listCommand(kind: RecordKind): Command {
  const name = `${kind.noun} list`;
  return {
    name,
    summary: `${kind.plural} of a workspace, newest first`,
    options: { ...IN_WORKSPACE, ...kind.filters, ...JSON_OUTPUT },
    examples: [`${name} --workspace acme`],
    run: async (given, environment) =>
      await inWorkspace({ command: name, given, environment }, async (session) => {
        const found = await listAll(session, kind.list, filtersOf(kind, given));
        if (!given.has("json")) return recordTable(kind, found);
        return JSON.stringify(
          found.map((record) => withoutSecret(kind, record)),
          null,
          2,
        );
      }),
  };
}

function filtersOf({ filters }: RecordKind, given: CommandArguments): Record<string, string> {
  return Object.fromEntries(
    Object.keys(filters).flatMap((name) => {
      const value = given.text(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function withoutSecret({ secret = "" }: RecordKind, record: ShownRecord): object {
  return Object.fromEntries(Object.entries(record).filter(([field]) => field !== secret));
}

function recordTable(
  { columns, plural, howToMake }: RecordKind,
  found: readonly ShownRecord[],
): string {
  return table(
    Object.entries(columns).map(([title, field]) => ({
      title,
      value: (record: ShownRecord) => {
        const value = record[field];
        return Array.isArray(value) ? value.join(", ") : value;
      },
    })),
    found,
    `There are no ${plural}. ${howToMake}`,
  );
}

function showCommand(kind: RecordKind): Command {
  const { noun, key } = kind;
  const name = `${noun} show`;
  return {
    name,
    operand: { name: key.name, summary: `of the ${noun}, as \`${noun} list\` shows it` },
    summary: `all fields of one ${noun}`,
    options: { ...IN_WORKSPACE, ...JSON_OUTPUT },
    examples: [`${name} ${key.example} --workspace acme`],
    run: async (given, environment) =>
      await inWorkspace({ command: name, given, environment }, async (session) => {
        const record = await call(session, kind.get, { path: { id: given.operand } });
        return given.has("json") ? JSON.stringify(record, null, 2) : fieldLines(record);
      }),
  };
}

/** Lists and shows the records that have no other commands than their import. */
export const recordCommands: readonly Command[] = KINDS.flatMap((kind) => [
  listCommand(kind),
  showCommand(kind),
]);
