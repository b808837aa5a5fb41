import type { ConversionStatus } from "../../../schemas/events/conversion-words.ts";
import type { PostbackReply, PostbackResult } from "../../../schemas/events/postback-request.ts";
import type { Refusal } from "./refusal.ts";
import type { ReportKey } from "./report-key.ts";

/** The outcome of a report. */
export type Handled = {
  readonly reply: PostbackReply;
  /** For the inbound log. */
  readonly workspaceId: number | undefined;
  readonly clickId: string | undefined;
  readonly conversionId: string | undefined;
  readonly message: string;
  /** Offer and event, as far as they follow from a click or a conversion. The report itself may name them too. */
  readonly offerId?: number | undefined;
  readonly eventCode?: string | undefined;
  /** The idempotency key of a report whose answer is not stored yet because the report changed no conversion. */
  readonly keyToStore?: ReportKey | undefined;
  /** The report is malformed by itself, so no catalog accepts it. */
  readonly isUnreadable?: boolean;
};

/** An accepted report, for its answer. */
export type Taken = {
  readonly conversionId: string | null;
  readonly status: ConversionStatus;
  readonly reason: string;
  readonly isDuplicate?: boolean;
  readonly isUpdate?: boolean;
  readonly isTest?: boolean;
  readonly details: Readonly<Record<string, unknown>>;
};

/** `{ok: true, …}` with only the keys that apply (PB-061). */
export function takenReply(taken: Taken): PostbackReply {
  return {
    httpStatus: 200,
    result: resultOf(taken),
    body: {
      ok: true,
      conversion_id: taken.conversionId,
      status: taken.status,
      ...(taken.reason === "" ? {} : { reason: taken.reason }),
      ...(taken.isDuplicate === true ? { duplicate: true } : {}),
      ...(taken.isUpdate === true ? { updated: true } : {}),
      ...(taken.isTest === true ? { test: true } : {}),
      ...(Object.keys(taken.details).length === 0 ? {} : { details: taken.details }),
    },
  };
}

/** `{ok: false, error}`, with the ids for the inbound log as far as they are known. */
export function refusal(
  { httpStatus, error, result, details, hint, retryAfterSeconds }: Refusal,
  ids: Partial<Pick<Handled, "workspaceId" | "clickId" | "offerId" | "eventCode">>,
): Handled {
  return {
    reply: {
      httpStatus,
      result,
      body: { ok: false, error, ...(details === undefined ? {} : { details }) },
      ...(hint === undefined ? {} : { hint }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    workspaceId: ids.workspaceId,
    clickId: ids.clickId,
    conversionId: undefined,
    offerId: ids.offerId,
    eventCode: ids.eventCode,
    message: hint === undefined ? error : `${error}: ${hint}`,
  };
}

function resultOf(taken: Taken): PostbackResult {
  if (taken.isTest === true) return "test";
  if (taken.isUpdate === true) return "updated";
  return taken.isDuplicate === true ? "duplicate" : taken.status;
}
