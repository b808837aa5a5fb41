import type * as WebAuthn from "@simplewebauthn/server";

/**
 * The library of passkeys, at its first use. With its parsers of certificates it is a fifth of the processor time in which the api starts, and many
 * installations have no passkey.
 */
export async function loadWebAuthn(): Promise<typeof WebAuthn> {
  return await import("@simplewebauthn/server");
}
