/** The destination is not allowed. A repeat helps only if its name then resolves to another address. */
export class ForbiddenDestinationError extends Error {
  override readonly name = "ForbiddenDestinationError";
}

/** A redirect that is not followed. The message appears in the delivery log. */
export class RedirectError extends Error {
  override readonly name = "RedirectError";
}

/** A name without an address. */
export class NameError extends Error {
  override readonly name = "NameError";
}

/** The entry in the delivery log for a request without an answer. */
export type OutgoingFailure = { readonly error: string; readonly isPermanent: boolean };

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  ECONNRESET: "connection closed",
  EPIPE: "connection closed",
  UND_ERR_SOCKET: "connection closed",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "host unreachable",
  UND_ERR_HEADERS_OVERFLOW: "invalid answer",
};
const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$)/;

/** Describes an error of {@link OutgoingClient.send} for the delivery log. */
export function outgoingFailure(error: unknown): OutgoingFailure {
  if (error instanceof ForbiddenDestinationError)
    return { error: "destination address not allowed", isPermanent: true };
  if (error instanceof NameError) return { error: "DNS error", isPermanent: false };
  if (error instanceof RedirectError) return { error: error.message, isPermanent: true };
  if (error instanceof Error && error.name === "TimeoutError")
    return { error: "timeout", isPermanent: false };
  const code = codeOf(error);
  if (TLS_CODE.test(code)) return { error: `TLS error ${code}`, isPermanent: false };
  if (code.startsWith("HPE_")) return { error: "invalid answer", isPermanent: false };
  return { error: BY_CODE[code] ?? "connection failed", isPermanent: false };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? "" : codeOf(error.cause);
}
