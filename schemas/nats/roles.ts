/** The users of a NATS server. `operator` is the command line, which makes and changes streams; it may do everything. */
export type NatsRole = "ingress" | "processors" | "api" | "operator";

/** Where the answers to a role's requests arrive, so that no role can read another role's answers. */
export function inboxPrefix(role: NatsRole): string {
  return `_INBOX.${role}`;
}
