import { FIELDS_COUNTED_MAX } from "../../schemas/json/json-bounds.ts";

/** Every error code with its HTTP status (G01). A code is stable, a message is not. */
export const API_ERRORS = {
  missing_api_key: { status: 401, meaning: "No `Authorization: Bearer <API_KEY>` header." },
  invalid_api_key: { status: 401, meaning: "The key is unknown, expired or revoked." },
  sign_in_required: {
    status: 401,
    meaning: "Nobody has signed in, or the session has ended. Answered only to sessions.",
  },
  second_factor_required: {
    status: 403,
    meaning: "The session waits for its second factor. Answered only to sessions.",
  },
  fresh_sign_in_required: {
    status: 403,
    meaning:
      "The person has to prove a factor again, because the last proof is older than 10 minutes. Answered only to sessions.",
  },
  ip_not_allowed: { status: 403, meaning: "The key may not be used from this address." },
  forbidden: { status: 403, meaning: "The role or the permissions of the key do not allow this." },
  read_only_key: { status: 403, meaning: "An analyst key was used for a write." },
  workspace_inactive: { status: 403, meaning: "The workspace of the key is not active." },
  advertiser_inactive: { status: 403, meaning: "The advertiser of the key is not active." },
  affiliate_inactive: { status: 403, meaning: "The partner of the key is not active." },
  not_approved: { status: 403, meaning: "The partner may not run this offer yet." },
  rate_limited: {
    status: 429,
    meaning:
      "The budget of this minute is used up, or the key or its workspace has its maximum number of reports under way: wait `Retry-After` seconds.",
  },
  invalid_request: { status: 400, meaning: "The request does not have the expected form." },
  invalid_parameter: {
    status: 400,
    meaning: "A query parameter is wrong; `details.param` names it.",
  },
  invalid_cursor: {
    status: 400,
    meaning: "The cursor belongs to another list, filter or key, or is damaged.",
  },
  invalid_json: { status: 400, meaning: "The body is empty or not JSON." },
  validation_failed: {
    status: 400,
    meaning: "Body fields are wrong; `details.fields` names each.",
  },
  unsupported_media_type: { status: 415, meaning: "The body is not `application/json`." },
  payload_too_large: {
    status: 413,
    meaning: "The body is larger than 1 MiB, or a file is larger than its operation accepts.",
  },
  method_not_allowed: {
    status: 405,
    meaning: "The path does not accept this method; `Allow` lists those that it accepts.",
  },
  not_found: {
    status: 404,
    meaning: "The path or record does not exist, or the key cannot see it.",
  },
  conflict: {
    status: 409,
    meaning: "The change contradicts what is stored; `details.field` names the field.",
  },
  in_use: { status: 409, meaning: "Other records still use this one." },
  no_tracking_domain: { status: 409, meaning: "The workspace has no active tracking domain." },
  unavailable: {
    status: 503,
    meaning: "A part of the service is unavailable: try again after `Retry-After` seconds.",
  },
  internal_error: {
    status: 500,
    meaning: "The service failed. Its log has the details under the request id.",
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof API_ERRORS;

export type ErrorDetails = {
  /** Field of the body to text; nested fields as `events[0].payout` (G15). */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly param?: string;
  readonly field?: string | undefined;
};

type ApiErrorOptions = {
  readonly details?: ErrorDetails;
  /** Headers of this answer, added to those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log, never for the caller. */
  readonly cause?: unknown;
};

/**
 * An answer other than success. `message` is written for the caller. Only http/problem.ts and its MCP counterpart turn it into a
 * response.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return API_ERRORS[this.code].status;
  }
}

/** A record that the principal may not read gets the same 404 as one that does not exist. */
export function notFound(what: string): ApiError {
  return new ApiError("not_found", `no such ${what}`);
}

export function invalidParameter(param: string, message: string): ApiError {
  return new ApiError("invalid_parameter", `${param}: ${message}`, { details: { param } });
}

/** The fault of a field that the operation does not have. */
export const UNKNOWN_FIELD = "unknown field";

const UNKNOWN_NAMED_MAX = 5;
const OF_LIST_NAMED_MAX = 100;
const NAMED_MAX = 300;
const NAMES_IN_MESSAGE_MAX = 20;
const NAME_CHARACTERS_MAX = 200;
const FAULT_CHARACTERS_MAX = 500;

/**
 * Refuses a body by the faults of its fields. Names 5 unknown fields and 100 faults of a list, because the answer may not grow with the body;
 * the message says how many more there are (G213). `unnamed`: further faults that the caller has counted.
 */
export function validationFailed(faults: Readonly<Record<string, string>>, unnamed = 0): ApiError {
  const given = Object.entries(faults);
  const named = namedFaults(given);
  const shown = named.slice(0, NAMES_IN_MESSAGE_MAX).map(([name]) => name);
  const more = given.length + unnamed - shown.length;
  const count = more > FIELDS_COUNTED_MAX ? `over ${FIELDS_COUNTED_MAX}` : more;
  const list = more > 0 ? `${shown.join(", ")} and ${count} more` : shown.join(", ");
  return new ApiError("validation_failed", `wrong or missing: ${list}`, {
    details: { fields: Object.fromEntries(named) },
  });
}

function namedFaults(faults: readonly (readonly [string, string])[]): [string, string][] {
  const left = new Map<string, number>();
  const isNamed = (group: string, max: number): boolean => {
    const room = left.get(group) ?? max;
    left.set(group, room - 1);
    return room > 0;
  };
  return faults
    .filter(([name, fault]) => {
      if (fault === UNKNOWN_FIELD) return isNamed("", UNKNOWN_NAMED_MAX);
      const [list = "", ...rest] = name.split("[", 2);
      return rest.length === 0 || isNamed(list, OF_LIST_NAMED_MAX);
    })
    .slice(0, NAMED_MAX)
    .map(([name, fault]) => [cut(name, NAME_CHARACTERS_MAX), cut(fault, FAULT_CHARACTERS_MAX)]);
}

function cut(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

export function conflict(field: string, message: string): ApiError {
  return new ApiError("conflict", message, { details: { field } });
}

const RETRY_AFTER_SEC = 30;

/** `part` names the part for the caller: "the conversion store". */
export function unavailable(part: string, cause?: unknown): ApiError {
  return new ApiError("unavailable", `${part} is not available at the moment`, {
    headers: { "retry-after": String(RETRY_AFTER_SEC) },
    cause,
  });
}
