import { JetStreamApiError } from "@nats-io/jetstream";

/** Why a NATS server cannot be used. */
export type NatsFault =
  | "login refused"
  | "certificate refused"
  | "no tls"
  | "no jetstream"
  | "no login"
  | "away";

/** The servers cannot be used. The message is one sentence with hosts, never with a password. */
export class NatsError extends Error {
  override readonly name = "NatsError";
  readonly fault: NatsFault;

  constructor(fault: NatsFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

const NO_LEADER = 10_008;

/** Codes of Node.js for a certificate that no known authority has signed. */
const UNKNOWN_AUTHORITY = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);
const WRONG_CERTIFICATE = /^(CERT_|ERR_TLS_CERT_ALTNAME_INVALID)/;
/** The server has ended the handshake, because it wants a certificate of the client, or another certificate. */
const CLIENT_CERTIFICATE = /^ERR_SSL_.*(CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/;

/** Why a connection to `hosts` failed. */
export function connectFault(error: unknown, hosts: string): NatsError {
  const { name, code, message } = partsOf(error);
  const cause = { cause: error };
  if (name === "AuthorizationError" || name === "UserAuthenticationExpiredError") {
    return new NatsError(
      "login refused",
      `NATS at ${hosts} refuses the login: check user and password in NATS_URL or NATS_USER, or NATS_CREDS_FILE or NATS_NKEY_FILE.`,
      cause,
    );
  }
  const certificate = certificateSentence(code, message);
  if (certificate !== undefined) {
    return new NatsError("certificate refused", `NATS at ${hosts}: ${certificate}`, cause);
  }
  if (message.includes("does not support 'tls'")) {
    return new NatsError(
      "no tls",
      `NATS at ${hosts} has no TLS: configure it there, or write nats:// in NATS_URL and unset NATS_CA_FILE, NATS_CERT_FILE and NATS_KEY_FILE.`,
      cause,
    );
  }
  if (
    /unable to parse credentials|no seed of a user|invalid (seed|checksum|encoding)/.test(message)
  ) {
    return new NatsError(
      "no login",
      "The file of NATS_CREDS_FILE or NATS_NKEY_FILE does not hold credentials or a seed as `nsc` and `nk` write them.",
      cause,
    );
  }
  const why = name === "TimeoutError" ? "no answer in time" : code || message || "it hung up";
  return new NatsError("away", `NATS at ${hosts} does not answer: ${why}.`, cause);
}

export function noJetstream(hosts: string): NatsError {
  return new NatsError(
    "no jetstream",
    `NATS at ${hosts} runs without JetStream: add \`jetstream { store_dir: … }\` to its configuration and restart it.`,
  );
}

/** Whether a cluster has no leader now: it answers nothing, or that it is unavailable (JSClusterNotAvailErr). */
export function hasNoLeader(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (
    error.name === "TimeoutError" ||
    (error instanceof JetStreamApiError && error.code === NO_LEADER)
  );
}

export function silentJetstream(hosts: string, cause: Error): NatsError {
  return new NatsError(
    "away",
    `JetStream at ${hosts} does not answer: most of its servers are away, or they elect a leader.`,
    { cause },
  );
}

function certificateSentence(code: string, message: string): string | undefined {
  if (UNKNOWN_AUTHORITY.has(code)) {
    return "its certificate is signed by an unknown authority. Name the certificate of that authority with NATS_CA_FILE.";
  }
  if (WRONG_CERTIFICATE.test(code)) {
    return `its certificate is not accepted (${message}). Renew it, or name the server in NATS_URL as its certificate does.`;
  }
  if (CLIENT_CERTIFICATE.test(code)) {
    return `it refuses the certificate of this process (${code}). Set NATS_CERT_FILE and NATS_KEY_FILE to one that its authority signed.`;
  }
  return undefined;
}

/** The client wraps errors of sockets and files. */
function partsOf(error: unknown): { name: string; code: string; message: string } {
  if (!(error instanceof Error)) return { name: "", code: "", message: "" };
  const { cause } = error;
  const direct = "code" in error ? String(error.code) : "";
  const code = direct || (cause instanceof Error && "code" in cause ? String(cause.code) : "");
  return { name: error.name, code, message: error.message };
}
