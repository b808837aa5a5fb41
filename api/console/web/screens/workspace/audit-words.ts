/** A record that an entry of the audit log names. */
type NamedRecord = {
  readonly kind: "offer" | "partner" | "advertiser";
  readonly id: string;
};

type AuditWords = {
  /** What was to be done, such as "Change an offer". */
  readonly words: string;
  /** The entry as it was written, unless the words say the same. */
  readonly raw: string;
  readonly record: NamedRecord | undefined;
};

const PERSON: Readonly<Record<string, string>> = {
  "signed-in": "Sign in",
  "sign-in-failed": "Sign in with a wrong password",
  "second-factor-failed": "Give a wrong code",
  "signed-out": "Sign out",
  "session-ended": "End a session",
  joined: "Join by a link",
  reset: "Set a new password by a link",
  replaced: "Set up the account anew by a link",
  "password-changed": "Change the own password",
  "totp-added": "Set up codes",
  "totp-removed": "Remove the codes",
  "recovery-codes-made": "Create recovery codes",
  "recovery-code-used": "Use a recovery code",
  "passkey-added": "Add a passkey",
  "passkey-removed": "Remove a passkey",
  "oidc-connected": "Connect the identity provider",
  "oidc-removed": "Disconnect the identity provider",
  "reset-asked": "Ask for a new password",
};

/** What POST, PATCH and DELETE make of a collection: "a coupon". */
const NOUNS: Readonly<Record<string, string>> = {
  offers: "an offer",
  affiliates: "a partner",
  advertisers: "an advertiser",
  conversions: "a conversion",
  creatives: "a creative",
  postbacks: "a postback",
  deals: "a deal",
  "product-feeds": "a product feed",
  users: "a contact",
  keys: "an API key",
  "tracking-domains": "a tracking domain",
  "tracking-domain-assignments": "the domain of a partner",
  "link-keys": "a link key",
  "smart-links": "a smart link",
  "code-aliases": "an alias of a code",
  "traffic-source-templates": "a traffic source template",
  "traffic-controls": "a traffic control",
  "offer-groups": "an offer group",
  "payout-overrides": "own terms of a partner",
  "conversion-rules": "a conversion rule",
  coupons: "a coupon",
  webhooks: "a webhook",
  members: "a member",
  "saved-views": "a saved view",
  workspaces: "a workspace",
};
const VERBS: Readonly<Record<string, string>> = {
  POST: "Create",
  PATCH: "Change",
  PUT: "Change",
  DELETE: "Delete",
};

/** Requests that the verb and the collection do not describe. `*` is an ID or a code. */
const REQUESTS: Readonly<Record<string, string>> = {
  "DELETE /offers/*": "Archive an offer",
  "PUT /offers/*/affiliates/*": "Decide about a partner's access to an offer",
  "POST /offers/*/accept-terms": "Accept the terms of an offer",
  "POST /offers/*/access-request": "Ask for access to an offer",
  "DELETE /offers/*/access-request": "Take back a request for access",
  "PATCH /access-requests": "Decide about requests for access",
  "POST /offers/*/events": "Create an event of an offer",
  "PATCH /offers/*/events/*": "Change an event of an offer",
  "DELETE /offers/*/events/*": "Delete an event of an offer",
  "POST /offers/*/creatives": "Create a creative of an offer",
  "PATCH /offers/*/settings": "Change the settings of an offer",
  "PATCH /affiliates": "Change several partners",
  "PATCH /affiliates/*/settings": "Change the settings of a partner",
  "PATCH /advertisers/*/settings": "Change the settings of an advertiser",
  "POST /advertisers/*/rotate-postback-token": "Replace the postback token of an advertiser",
  "PATCH /conversions": "Decide about several conversions",
  "PATCH /conversions/*": "Decide about a conversion",
  "POST /conversions/validate": "Check a report of a conversion",
  "POST /postbacks/*/deliveries/retry": "Send messages of a postback again",
  "POST /postback-deliveries/*/retry": "Send a message of a postback again",
  "POST /webhooks/*/deliveries/retry": "Send messages of a webhook again",
  "POST /webhook-deliveries/*/retry": "Send a message of a webhook again",
  "POST /webhooks/*/rotate-secret": "Replace the secret of a webhook",
  "POST /webhooks/*/test": "Test a webhook",
  "POST /google-ads/lint": "Check a tracking template",
  "POST /ad-platform/lint": "Check a tracking template",
  "POST /ad-platform/test": "Test a tracking template",
  "PATCH /workspace": "Change the workspace's settings",
  "POST /workspace/rotate-postback-token": "Replace the workspace's postback token",
  "DELETE /keys/*": "Revoke an API key",
  "POST /me/keys": "Create an API key",
  "DELETE /me/keys/*": "Revoke an API key",
  "PATCH /me/profile": "Change the own profile",
  "POST /me/postback-token/rotate": "Replace the own postback token",
  "POST /me/test-postback": "Test the own postback",
  "POST /ad-costs": "Add ad costs",
  "POST /fx-rates": "Set reference rates",
  "PUT /blocklist": "Change the blocklist",
  "POST /erasures": "Erase a visitor's data",
  "POST /invitations": "Invite a person",
  "POST /invitations/*/renew": "Renew an invitation",
  "DELETE /invitations/*": "Revoke an invitation",
  "DELETE /members/*": "Remove a member",
  "POST /members/*/reset-link": "Make a reset link for a member",
  "POST /signup/{slug}/{audience}": "Sign up as a partner",
  "POST /imports": "Import a file",
  "POST /imports/*/stop": "Stop an import",
};

const KINDS: Readonly<Record<string, NamedRecord["kind"]>> = {
  offers: "offer",
  affiliates: "partner",
  advertisers: "advertiser",
};
const REST = /^rest ([A-Z]+) (?:\/api\/v\d+)?(\/\S*)(.*)$/;
const ID = /^(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Z0-9_-]{4,})$/;

/** What an entry says, in words where they are known. */
export function auditWords(action: string): AuditWords {
  const raw = action.replace(/^rest /, "").replace("/api/v1", "");
  const rest = REST.exec(action);
  if (rest !== null) {
    const [, method = "", path = "", more = ""] = rest;
    const words = requestWords(method, path);
    return words === undefined
      ? { words: raw, raw: "", record: recordIn(path) }
      : { words: `${words}${more}`, raw, record: recordIn(path) };
  }
  const [kind = "", name = ""] = action.split(/:(.*)/s);
  if (kind === "person") return { words: PERSON[name] ?? action, raw: "", record: undefined };
  if (kind === "mcp")
    return { words: `Assistant: ${name.replaceAll("_", " ")}`, raw: "", record: undefined };
  if (action.startsWith("cli "))
    return { words: `Command line: ${action.slice("cli ".length)}`, raw: "", record: undefined };
  return { words: action, raw: "", record: undefined };
}

function requestWords(method: string, path: string): string | undefined {
  const parts = path.split("/").slice(1);
  const places = parts.map((part, at) =>
    // A code of an event may be any word.
    at > 0 && (ID.test(part) || parts[at - 1] === "events") ? "*" : part,
  );
  const words = REQUESTS[`${method} /${places.join("/")}`];
  if (words !== undefined) return words;
  const [collection = "", second, ...others] = places;
  const noun = NOUNS[collection];
  const verb = VERBS[method];
  const isPlain = others.length === 0 && (method === "POST") === (second === undefined);
  return noun === undefined || verb === undefined || !isPlain ? undefined : `${verb} ${noun}`;
}

function recordIn(path: string): NamedRecord | undefined {
  const [, collection = "", id = ""] = path.split("/");
  const kind = KINDS[collection];
  return kind === undefined || !/^\d+$/.test(id) ? undefined : { kind, id };
}
