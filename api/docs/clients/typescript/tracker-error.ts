/** A refusal of the service. `message` is for people and may change; `code` is stable. */
export class TrackerError<Code extends string = string> extends Error {
  override readonly name = "TrackerError";
  readonly status: number;
  readonly code: Code;
  /** Names this request in the log of the service. */
  readonly requestId: string | undefined;
  readonly details: ErrorDetails;
  /** Seconds to wait before the request is sent again, if the service said so. */
  readonly retryAfter: number | undefined;

  constructor(refusal: Refusal<Code>) {
    super(`${refusal.code}: ${refusal.message}`);
    this.status = refusal.status;
    this.code = refusal.code;
    this.requestId = refusal.requestId;
    this.details = refusal.details;
    this.retryAfter = refusal.retryAfter;
  }
}

export type ErrorDetails = {
  /** Field of the body to what is wrong with it; nested ones as `events[0].payout`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The wrong query parameter. */
  readonly param?: string;
  /** The field in conflict. */
  readonly field?: string;
};

export type Refusal<Code extends string = string> = {
  readonly status: number;
  readonly code: Code;
  readonly message: string;
  readonly requestId: string | undefined;
  readonly details: ErrorDetails;
  readonly retryAfter: number | undefined;
};

/** The refusal in an answer. An answer that does not come from the service, such as a proxy's, has the code `unavailable` or `internal_error`. */
export function errorOf(response: Response, text: string): TrackerError {
  const { error } = parsed(text);
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new TrackerError({
    status: response.status,
    code: error?.code ?? (response.status === 503 ? "unavailable" : "internal_error"),
    message: error?.message ?? `HTTP ${response.status} without an error of the service`,
    requestId: response.headers.get("x-request-id") ?? undefined,
    details: error?.details ?? {},
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

type ErrorBody = { readonly error?: Partial<Pick<Refusal, "code" | "message" | "details">> };

function parsed(text: string): ErrorBody {
  try {
    const body: unknown = JSON.parse(text);
    const isError =
      typeof body === "object" &&
      body !== null &&
      "error" in body &&
      typeof body.error === "object" &&
      body.error !== null;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the document describes the fields of an error
    return isError ? (body as ErrorBody) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
