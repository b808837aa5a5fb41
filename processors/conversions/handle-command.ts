import assert from "node:assert";
import type { Cause, CauseOfChange } from "../../schemas/events/cause.ts";
import type { ClickRecord } from "../../schemas/events/click-record.ts";
import type {
  ConversionCommand,
  ConversionCommandReply,
} from "../../schemas/events/conversion-command.ts";
import { newConversionId } from "../../schemas/ids/conversion-id.ts";
import { parseAmount } from "../../schemas/money/amount.ts";
import { isClickIpCrowded } from "./attribute/count-clicks.ts";
import { findClickById } from "./attribute/find-click.ts";
import { convertMoney, oversizedAmount } from "./judge/convert-money.ts";
import { rateFor } from "./judge/converted-money.ts";
import { draftCreation } from "./judge/draft-creation.ts";
import { fraudChecksOf, isRefusal, type Target } from "./read/resolve-target.ts";
import { type Recording, setConversionStatus } from "./record/conversions.ts";
import { recordTraced } from "./record/record-traced.ts";
import type { GivenMoney } from "./report/report-params.ts";
import type { ReportSources } from "./report-sources.ts";

type Create = Extract<ConversionCommand, { kind: "create" }>;
type SetStatus = Extract<ConversionCommand, { kind: "set-status" }>;
type Refused = Extract<ConversionCommandReply, { kind: "refused" }>;

/** Handles a conversion command that staff sent over the API. Throws what the store throws. */
export async function handleCommand(
  sources: ReportSources,
  command: ConversionCommand,
): Promise<ConversionCommandReply> {
  return command.kind === "create"
    ? await createConversion(sources, command)
    : await changeStatuses(sources, command);
}

/** `POST /conversions`: judged like a postback, unless the command sets a status, which is final (G90). */
async function createConversion(
  sources: ReportSources,
  command: Create,
): Promise<ConversionCommandReply> {
  const click = await clickOf(sources, command);
  if (click !== undefined && "kind" in click) return click;
  const target = targetOf(sources, command, click);
  if (target.kind === "refused") return target;
  const rate = await rateFor(
    sources,
    { currency: command.currency ?? undefined },
    {
      workspaceId: target.workspace.id,
      currency: target.offer.currency,
      atMs: command.convTsMs ?? command.nowMs,
    },
  );
  if (isRefusal(rate)) return invalid({ currency: "no exchange rate: set one by POST /fx-rates" });
  const given = convertMoney(amountsOf(command), rate);
  const oversized = oversizedAmount(given);
  if (oversized !== undefined)
    return invalid({ [oversized]: `too large in ${target.offer.currency}` });
  const isCrowded = await isClickIpCrowded(sources, click, {
    clicksMax: command.status === null ? fraudChecksOf(target).duplicate_click_ip : null,
    atMs: command.convTsMs ?? command.nowMs,
  });
  if (isCrowded === "away") return { kind: "unavailable" };
  const facts = { target, click, given, isClickIpCrowded: isCrowded };
  const outcome = await recordTraced(sources, async (cause) => {
    const draft = draftCommand(sources, command, facts);
    return await sources.recorder.record({
      ...draft,
      plan: { ...draft.plan, cause: withPerson(cause, command) },
    });
  });
  if (outcome.outcome === "recorded") return { kind: "created", id: outcome.id };
  return {
    kind: "refused",
    code: "conflict",
    message: "a conversion with this adv_txid exists on the offer",
    field: "adv_txid",
  };
}

function amountsOf({ saleAmount, payout, revenue }: Create): GivenMoney {
  return {
    saleAmount: parseAmount(saleAmount ?? ""),
    payout: parseAmount(payout ?? ""),
    revenue: parseAmount(revenue ?? ""),
  };
}

function draftCommand(
  sources: ReportSources,
  command: Create,
  facts: {
    readonly target: Target;
    readonly click: ClickRecord | undefined;
    readonly given: GivenMoney;
    readonly isClickIpCrowded: boolean;
  },
): Recording {
  return draftCreation(sources.catalog, {
    id: newConversionId(sources.clock.nowMs()),
    target: facts.target,
    click: facts.click,
    clickValues: command.click,
    given: facts.given,
    finalStatus: command.status ?? undefined,
    givenStatus: undefined,
    isClickIpCrowded: facts.isClickIpCrowded,
    isIpAllowed: true,
    address: facts.click?.ip ?? "",
    method: "api",
    convTsMs: command.convTsMs ?? command.nowMs,
    nowMs: command.nowMs,
    txid: command.advTxid ?? undefined,
    convIp: "",
    params: command.params,
    notes: command.notes,
    plan: {
      on_txid: "conflict",
      on_click: "duplicate",
      on_none: "insert",
      latest_of_click: false,
      names_event: true,
      actor: "api",
      key_id: keyOf(command),
    },
  });
}

function keyOf({ keyId, personId }: ConversionCommand): number | null {
  return personId === undefined ? keyId : null;
}

/** The history of a conversion takes the person from the cause of the change. */
function withPerson(
  cause: Cause | undefined,
  { personId }: ConversionCommand,
): CauseOfChange | undefined {
  return personId === undefined ? cause : { ...cause, person_id: personId };
}

async function clickOf(
  sources: ReportSources,
  { clickId, workspaceId }: Create,
): Promise<ClickRecord | undefined | Refused | { readonly kind: "unavailable" }> {
  if (clickId === null) return undefined;
  const found = await findClickById(sources, clickId);
  if (found.kind === "unavailable") return found;
  if (found.kind === "none" || found.click.workspace_id !== workspaceId)
    return invalid({ click_id: "unknown click" });
  return found.click;
}

function targetOf(
  { catalog }: ReportSources,
  command: Create,
  click: ClickRecord | undefined,
): Target | Refused {
  const offer = ownRecord(catalog.offers.get(command.offerId), command);
  const affiliate = ownRecord(
    catalog.affiliates.get(command.affiliateId ?? click?.affiliate_id ?? 0),
    command,
  );
  const event = offer === undefined ? undefined : catalog.eventOf(offer.id, command.eventCode);
  const fields = {
    ...(affiliate === undefined ? affiliateFault(command, click) : {}),
    ...(isOtherOffer(command, click) ? { click_id: "the click belongs to another offer" } : {}),
  };
  if (offer === undefined) return invalid({ offer_id: "unknown offer", ...fields });
  if (event === undefined) return invalid({ event: "unknown event for this offer", ...fields });
  if (Object.keys(fields).length > 0) return invalid(fields);
  const workspace = catalog.workspaces.get(offer.workspace_id);
  const advertiser = catalog.advertisers.get(offer.advertiser_id);
  assert(
    workspace !== undefined && advertiser !== undefined,
    "an offer has a workspace and an advertiser",
  );
  return {
    kind: "target",
    workspace,
    offer,
    advertiser,
    event,
    affiliate,
    creationRefusal: undefined,
  };
}

function ownRecord<T extends { readonly workspace_id: number }>(
  record: T | undefined,
  command: Create,
): T | undefined {
  return record?.workspace_id === command.workspaceId ? record : undefined;
}

function affiliateFault(
  { affiliateId }: Create,
  click: ClickRecord | undefined,
): Record<string, string> {
  if (affiliateId !== null) return { affiliate_id: "unknown affiliate" };
  return click === undefined ? { affiliate_id: "required without a click" } : {};
}

function isOtherOffer({ offerId }: Create, click: ClickRecord | undefined): boolean {
  return click !== undefined && click.offer_id !== 0 && click.offer_id !== offerId;
}

/** Both PATCH endpoints. A single duplicate is refused (G92); a bulk change skips duplicates. */
async function changeStatuses(
  sources: ReportSources,
  command: SetStatus,
): Promise<ConversionCommandReply> {
  const outcomes = await recordTraced(
    sources,
    async (cause) =>
      await setConversionStatus(sources.pool, {
        workspaceId: command.workspaceId,
        ids: command.ids,
        change: {
          ...(command.status === null ? {} : { status: command.status }),
          ...command.amounts,
          status_reason: command.reason === "" ? "manual" : command.reason,
          ...(command.notes === null ? {} : { notes: command.notes }),
          cause: withPerson(cause, command),
        },
        rejectDuplicates: !command.bulk,
        keyId: keyOf(command),
      }),
  );
  const duplicates = outcomes.filter(({ outcome }) => outcome === "duplicate");
  if (!command.bulk && duplicates.length > 0) {
    return {
      kind: "refused",
      code: "conflict",
      message: "duplicates can only be rejected",
      field: fieldOfDuplicate(command),
    };
  }
  const notFound = outcomes.filter(({ outcome }) => outcome === "not-found").map(({ id }) => id);
  if (!command.bulk && notFound.length > 0) {
    return { kind: "refused", code: "not_found", message: "unknown conversion" };
  }
  return {
    kind: "changed",
    updated: outcomes
      .filter(({ outcome }) => outcome === "updated")
      .map(({ id, status, status_reason }) => ({ id, status, status_reason })),
    notFound,
    skippedDuplicates: duplicates.length,
  };
}

/** What of a command a duplicate does not take. */
function fieldOfDuplicate({ status, amounts = {} }: SetStatus): string {
  const [amount] = Object.keys(amounts);
  return status === "rejected" || status === null ? (amount ?? "status") : "status";
}

function invalid(fields: Record<string, string>): Refused {
  return {
    kind: "refused",
    code: "validation_failed",
    message: "the conversion is invalid",
    fields,
  };
}
