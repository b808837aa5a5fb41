import { findClickById } from "../../../schemas/click-lookup/find-click-by-id.ts";
import { JOURNALED_MS } from "../../../schemas/click-lookup/journaled.ts";
import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { clickIdParts, isGenuineClickId } from "../../../schemas/ids/click-id.ts";
import { readSecret } from "../../../schemas/installation/read-secret.ts";
import { unavailable } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { ReportScope } from "../../reports/report-scope.ts";
import { StoredClick } from "./click-row.ts";
import { isInScope, selectClick } from "./clicks.ts";

type Stores = Pick<OperationContext, "clickhouse" | "nats" | "db" | "nowMs">;

/**
 * The click with this id, if the caller may see it. A click can be found as soon as it is answered (G162): until ClickHouse has it,
 * its click writer is asked. Waits up to 2 s for a click that may still be in flight.
 *
 * @throws {ApiError} `unavailable` when ClickHouse or the click writer does not answer, or when the writer has not yet read as far
 *   as the time of the click.
 */
export async function findClick(
  stores: Stores,
  scope: ReportScope,
  clickId: string,
): Promise<StoredClick | undefined> {
  const click = await findInWorkspace(stores, scope.workspaceId, clickId);
  return click !== undefined && isInScope(scope, click) ? click : undefined;
}

async function findInWorkspace(
  stores: Stores,
  workspaceId: number,
  clickId: string,
): Promise<StoredClick | undefined> {
  const ageMs = stores.nowMs - clickIdParts(clickId).atMs;
  // Every click of this age is stored. An id that ClickHouse does not have is invented, even if its MAC is valid by chance.
  const old = { clickId, isOld: true };
  if (ageMs > JOURNALED_MS) return await selectClick(stores.clickhouse, workspaceId, old);
  return isGenuineClickId(clickId, await readSecret(stores.db))
    ? await findYoung(stores, workspaceId, clickId)
    : await selectClick(stores.clickhouse, workspaceId, old);
}

async function findYoung(
  { clickhouse, nats }: Stores,
  workspaceId: number,
  clickId: string,
): Promise<StoredClick | undefined> {
  const { atMs } = clickIdParts(clickId);
  const found = await findClickById(
    {
      nats,
      row: StoredClick,
      readStored: () => selectUnlessAway(clickhouse, workspaceId, clickId),
      mayConclude: (writer) => writer !== undefined && writer.completeToMs > atMs,
    },
    clickId,
  );
  if (found.kind === "unavailable") throw unavailable("the store of clicks");
  return found.kind === "found" ? found.click : undefined;
}

async function selectUnlessAway(
  clickhouse: Stores["clickhouse"],
  workspaceId: number,
  clickId: string,
): Promise<StoredClick | undefined | "away"> {
  try {
    return await selectClick(clickhouse, workspaceId, { clickId, isOld: false });
  } catch (error) {
    if (isClickhouseAway(error)) return "away";
    throw error;
  }
}
