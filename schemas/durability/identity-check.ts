import type { ClickhouseReader } from "../clickhouse/connect.ts";
import { isClickhouseAway } from "../clickhouse/errors.ts";
import { readClickhouseMark, readPostgresMark } from "../installation/store-marks.ts";
import type { Queryable } from "../postgres/connect.ts";
import type { CheckGroup } from "./check-group.ts";
import { clickhouseRefusal } from "./clickhouse-checks.ts";
import { judgeIdentity } from "./judge-identity.ts";
import { postgresRefusal } from "./postgres-checks.ts";

/** I1, for a process that uses both stores. */
export function identityCheck(db: Queryable, clickhouse: ClickhouseReader): CheckGroup {
  return {
    checks: ["I1"],
    server: "Postgres or ClickHouse",
    ask: async () => {
      const [own, recorded] = await Promise.all([
        readPostgresMark(db),
        readClickhouseMark(clickhouse),
      ]);
      return [judgeIdentity({ postgres: own.incarnation, clickhouse: recorded?.incarnation })];
    },
    refusalOf: (error) =>
      isClickhouseAway(error) ? undefined : (clickhouseRefusal(error) ?? postgresRefusal(error)),
  };
}
