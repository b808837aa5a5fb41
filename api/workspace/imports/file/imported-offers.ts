import { z } from "zod";
import { offerSettings } from "../../../catalog/management/settings-of-records.ts";
import { createEvent } from "../../../catalog/offers/create-event.ts";
import { createOffer } from "../../../catalog/offers/create-offer.ts";
import { eventFaults } from "../../../catalog/offers/offer-faults.ts";
import { CreateOfferBody } from "../../../catalog/offers/offer-fields.ts";
import { findOffer } from "../../../catalog/offers/offers.ts";
import { setPartnerAccess } from "../../../catalog/offers/set-partner-access.ts";
import { updateEvent } from "../../../catalog/offers/update-event.ts";
import { updateOffer } from "../../../catalog/offers/update-offer.ts";
import { faultsOf } from "../../../http/request-input.ts";
import type { FieldFaults, OperationContext } from "../../../operation/operation.ts";
import type { FileRow } from "./file-row.ts";
import {
  findAdvertisersByNames,
  findAffiliatesByCodes,
  findApprovedPartners,
  findOffersByCodes,
  foldTexts,
} from "./find-keys.ts";
import type { Caller, ImportedKind, ImportedRow, ResolvedRow } from "./imported-row.ts";

const PARTNERS_MAX = 1_000;
const ID = /^[1-9]\d{0,9}$/;
const EventsBody = CreateOfferBody.pick({ events: true });
const TxidScope = z.enum(["offer", "event"]);
const Events = z.array(z.looseObject({ code: z.string() }));
const Partners = z.array(z.string()).max(PARTNERS_MAX);

/** Offers, matched by code, with their events and the partners that may run them. */
export const importedOffers: ImportedKind = {
  noun: "offer",
  plural: "offers",
  keyField: "code",
  create: createOffer,
  extras: { advertiser: "advertiser_id", affiliates: undefined, txid_scope: "txid_scope" },
  findByKeys: findOffersByCodes,
  resolve: resolveOffers,
  apply: async (context, row, call) => {
    const id =
      row.id === undefined
        ? await call(createOffer, { body: row.body })
        : await change(context, { ...row, id: row.id }, call);
    if (id === undefined) return;
    if (row.partners.length > 0) await grantAccess(context, { id, partners: row.partners }, call);
    if (row.settings !== undefined)
      await call(offerSettings.update, { path: { id: String(id) }, body: row.settings });
  },
};

async function resolveOffers(
  context: OperationContext,
  rows: readonly FileRow[],
): Promise<ResolvedRow[]> {
  const advertisers = await advertisersOf(context, rows);
  const codes = rows.flatMap(({ fields }) => partnersOf(fields["affiliates"]));
  const partners = await findAffiliatesByCodes(context, codes.map(lower));
  const known = new Set(partners.map(({ key }) => key));
  return rows.map(({ number, fields: { advertiser, affiliates, txid_scope, ...fields } }) => {
    const { body, faults } = withAdvertiser(fields, advertiser, advertisers);
    return {
      number,
      body,
      partners: partnersOf(affiliates),
      settings: txid_scope === undefined ? undefined : { txid_scope },
      faults: {
        ...faults,
        ...partnerFaults(affiliates, known),
        ...faultsOfEvents(fields),
        ...scopeFaults(txid_scope),
      },
    };
  });
}

/** Ids of the advertisers with each name that the rows contain. */
async function advertisersOf(
  context: OperationContext,
  rows: readonly FileRow[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const names = rows.flatMap(({ fields: { advertiser } }) =>
    typeof advertiser === "string" ? [advertiser] : [],
  );
  const folded = await foldTexts(context, names);
  const ids = new Map<string, number[]>();
  for (const { id, key } of await findAdvertisersByNames(context, [...folded.values()])) {
    ids.set(key, [...(ids.get(key) ?? []), id]);
  }
  return new Map([...folded].map(([name, key]) => [name, ids.get(key) ?? []]));
}

/** A row names its advertiser by id or name. A name that is a number takes precedence over an id. */
function withAdvertiser(
  body: Readonly<Record<string, unknown>>,
  advertiser: unknown,
  known: ReadonlyMap<string, readonly number[]>,
): Pick<ResolvedRow, "body" | "faults"> {
  if (advertiser === undefined) return { body, faults: {} };
  if (body["advertiser_id"] !== undefined) {
    return { body, faults: { advertiser: "conflicts with advertiser_id: give only one of them" } };
  }
  if (typeof advertiser === "number")
    return { body: { ...body, advertiser_id: advertiser }, faults: {} };
  const faulty = (fault: string) => ({ body, faults: { advertiser: fault } });
  if (typeof advertiser !== "string") return faulty("expected the name or the id of an advertiser");
  const [id, ...others] = known.get(advertiser) ?? [];
  if (others.length > 0) return faulty("several advertisers have this name: give the id");
  if (id !== undefined) return { body: { ...body, advertiser_id: id }, faults: {} };
  if (ID.test(advertiser))
    return { body: { ...body, advertiser_id: Number(advertiser) }, faults: {} };
  return faulty("no such advertiser");
}

function partnersOf(affiliates: unknown): string[] {
  const parsed = Partners.safeParse(affiliates);
  return parsed.success ? parsed.data : [];
}

function partnerFaults(affiliates: unknown, known: ReadonlySet<string>): FieldFaults {
  if (affiliates === undefined) return {};
  const parsed = Partners.safeParse(affiliates);
  if (!parsed.success) return { affiliates: `expected a list of at most ${PARTNERS_MAX} codes` };
  const missing = parsed.data.findIndex((code) => !known.has(lower(code)));
  return missing === -1 ? {} : { [`affiliates[${missing}]`]: "no such affiliate" };
}

/** A new offer has no settings yet that could be asked. */
function scopeFaults(scope: unknown): FieldFaults {
  const isKnown = scope === undefined || TxidScope.safeParse(scope).success;
  return isKnown ? {} : { txid_scope: "expected one of offer, event" };
}

/**
 * Faults of events as in a new offer. The operation that changes an offer accepts no events, because events have operations of their
 * own.
 */
function faultsOfEvents({ events }: Readonly<Record<string, unknown>>): FieldFaults {
  if (events === undefined) return {};
  const parsed = EventsBody.safeParse({ events });
  return {
    ...eventFaults(events),
    ...(parsed.success ? {} : faultsOf(parsed.error, { events })),
  };
}

/** Changes fields, then events: existing events are changed, new ones added, none is removed. */
async function change(
  context: OperationContext,
  row: ImportedRow & { readonly id: number },
  call: Caller,
): Promise<number> {
  const { code: _code, events, ...body } = row.body;
  const path = { id: String(row.id) };
  await call(updateOffer, { path, body });
  const parsed = Events.safeParse(events);
  if (!parsed.success || parsed.data.length === 0) return row.id;
  const offer = await findOffer(context.db, context.principal, { id: row.id, code: "" });
  const there = new Set(offer?.events.map((event) => event.code));
  for (const [index, event] of parsed.data.entries()) {
    const { code, ...fields } = event;
    const prefix = `events[${index}].`;
    if (there.has(code)) await call(updateEvent, { path: { ...path, code }, body: fields }, prefix);
    else await call(createEvent, { path, body: event }, prefix);
  }
  return row.id;
}

async function grantAccess(
  context: OperationContext,
  { id, partners }: { readonly id: number; readonly partners: readonly string[] },
  call: Caller,
): Promise<void> {
  const approved = await findApprovedPartners(context, id, partners.map(lower));
  for (const [index, code] of partners.entries()) {
    if (approved.has(lower(code))) continue;
    await call(
      setPartnerAccess,
      { path: { id: String(id), affiliate: code }, body: { status: "approved" } },
      `affiliates[${index}].`,
    );
  }
}

/** For codes, which contain only ASCII letters. */
function lower(text: string): string {
  return text.toLowerCase();
}
