import type { SettingsOf } from "../host/read-settings.ts";
import type { Secret } from "../host/secret-file.ts";

// Not in servers.ts, which loads the driver: every program reads its settings, and the driver takes 50 ms of processor time.

/** What the URLs do not say. At most one way to log in is set, and none if the URLs have a user. */
export type NatsAccess = {
  readonly user?: string | undefined;
  readonly password?: Secret | undefined;
  readonly credsFile?: string | undefined;
  readonly nkeyFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
};

export function natsAccess(
  read: Pick<
    SettingsOf<"ingress">,
    | "NATS_USER"
    | "NATS_PASSWORD"
    | "NATS_CREDS_FILE"
    | "NATS_NKEY_FILE"
    | "NATS_CA_FILE"
    | "NATS_CERT_FILE"
    | "NATS_KEY_FILE"
  >,
): NatsAccess {
  return {
    user: read.NATS_USER,
    password: read.NATS_PASSWORD,
    credsFile: read.NATS_CREDS_FILE,
    nkeyFile: read.NATS_NKEY_FILE,
    caFile: read.NATS_CA_FILE,
    certFile: read.NATS_CERT_FILE,
    keyFile: read.NATS_KEY_FILE,
  };
}
