import type { Check, Place } from "./check.ts";
import { CLICKHOUSE_CHECKS } from "./clickhouse-checks.ts";
import { HOST_CHECKS } from "./host-checks.ts";
import { NATS_CHECKS } from "./nats-checks.ts";
import { POSTGRES_CHECKS } from "./postgres-checks.ts";
import { PROCESS_CHECKS } from "./process-checks.ts";
import { SECRET_CHECKS } from "./secret-checks.ts";
import { SERVER_CHECKS } from "./server-checks.ts";

/** Everything that is judged about an installation, in the order in which it is reported. */
export const CHECKS: readonly Check[] = [
  ...NATS_CHECKS,
  ...POSTGRES_CHECKS,
  ...CLICKHOUSE_CHECKS,
  ...SERVER_CHECKS,
  ...PROCESS_CHECKS,
  ...HOST_CHECKS,
  ...SECRET_CHECKS,
];

export function checksAt(place: Place): readonly Check[] {
  return CHECKS.filter(({ at }) => at.includes(place));
}
