/** A refusal or failure of the API, as it was answered. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  /** The code of the API, such as `validation_failed`; `unreachable` if there was no answer. */
  readonly code: string;
  /** Faults by field, such as `events[0].payout`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** Seconds after which the same request may be sent again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, parts: Omit<Problem, "name" | "message" | "stack" | "cause">) {
    super(message);
    this.status = parts.status;
    this.code = parts.code;
    this.fields = parts.fields;
    this.requestId = parts.requestId;
    this.retryAfterSeconds = parts.retryAfterSeconds;
  }
}

/** Whether the service, or the part of it that answers, is away and may come back by itself. */
export function isAway(error: unknown): error is Problem {
  return error instanceof Problem && (error.code === "unavailable" || error.code === "unreachable");
}

/** What was answered instead of success. */
export function problemFrom(response: Response, body: unknown): Problem {
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const { code, message, details } = error;
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new Problem(textOr(message, `The service answered ${response.status}.`), {
    status: response.status,
    code: textOr(code, "internal_error"),
    fields: fieldsIn(details, textOr(message, "")),
    requestId: response.headers.get("x-request-id") ?? "",
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

/** The request got no answer: the network, or the service, is away. */
export function unreachable(): Problem {
  return new Problem("The service does not answer.", {
    status: 0,
    code: "unreachable",
    fields: {},
    requestId: "",
    retryAfterSeconds: undefined,
  });
}

/** Fields without which nothing is sent. They are shown as the service's own faults are. */
export function missingProblem(fields: Readonly<Record<string, string>>): Problem {
  return new Problem("Something is missing.", {
    status: 400,
    code: "validation_failed",
    fields,
    requestId: "",
    retryAfterSeconds: undefined,
  });
}

/** A conflict names one field, and its message says what is wrong with it. */
function fieldsIn(details: unknown, message: string): Record<string, string> {
  if (!isObject(details)) return {};
  const { field } = details;
  if (typeof field === "string" && field !== "") return { [field]: message };
  const fields = isObject(details["fields"]) ? details["fields"] : {};
  return Object.fromEntries(Object.entries(fields).map(([name, fault]) => [name, String(fault)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}
