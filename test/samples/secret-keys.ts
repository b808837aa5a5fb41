import { SecretKeys } from "../../schemas/secrets/secret-keys.ts";

/** A ring of one key, for every test that needs none of its own. */
export const SECRETS_KEY = "dGhlIGtleSBvZiB0aGUgdGVzdHMsIDMyIGJ5dGVzISE=";

export function secretKeys(): SecretKeys {
  return new SecretKeys(() => SECRETS_KEY);
}
