import { type Check, checksOf, type Question } from "./check.ts";
import { judgeSecretKeys, type SecretKeyFacts } from "./judge-secret-keys.ts";
import { postgresRefusal } from "./postgres-checks.ts";

const KEYS: Question<SecretKeyFacts> = {
  server: "Postgres, which has the sealed values,",
  ask: ({ secretKeys }) => secretKeys?.(),
  refusalOf: postgresRefusal,
};

/** What is sealed under SECRETS_KEY, such as payment details (N9). */
export const SECRET_CHECKS: readonly Check[] = checksOf(KEYS, ["doctor"], {
  "secret keys": {
    judge: judgeSecretKeys,
    remedy: "put the line of that key back into SECRETS_KEY_FILE: until then partners are held",
  },
});
