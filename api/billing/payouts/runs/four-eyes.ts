import type { BillingState } from "../../../../schemas/billing/billing-state.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { ApiError } from "../../../operation/errors.ts";
import type { OperationContext } from "../../../operation/operation.ts";
import { idsOf } from "./run-writes.ts";

/** Days after a change of payment details in which whoever made it approves no payout to that partner. */
const CHANGER_WAITS_DAYS = 7;

/**
 * Where the workspace wants two people: whoever made the run, or changed the details of a partner that it pays, may not approve it (N53). Keys
 * and people of the same user count as one.
 * @throws {ApiError} `forbidden`
 */
export async function needFourEyes(
  tx: Queryable,
  { principal, workspace }: OperationContext,
  {
    state,
    runId,
    affiliateIds,
  }: {
    readonly state: BillingState | undefined;
    readonly runId: number;
    readonly affiliateIds: readonly number[];
  },
): Promise<void> {
  if (state?.approval !== "four_eyes") return;
  const { rows } = await tx.query<{ has_made: boolean; has_changed: boolean }>({
    name: "who-acted-on-payout-run",
    text: `with acted as (
             select created_key_id as key_id, created_person_id as person_id, true as is_maker from payout_run where id = $1
             union all
             select key_id, person_id, false from payment_method_change
             where affiliate_id = any($2::integer[]) and at > now() - make_interval(days => $3)
           ), known as (
             select a.key_id, a.person_id, a.is_maker, coalesce(k.user_id, m.user_id) as user_id
             from acted a left join api_key k on k.id = a.key_id
             left join membership m on m.person_id = a.person_id and m.workspace_id = $4
           ), own as (
             select user_id from api_key where id = $5
             union all
             select user_id from membership where person_id = $6 and workspace_id = $4
           ), same as (
             select is_maker from known
             where key_id = $5 or person_id = $6 or user_id in (select user_id from own where user_id is not null)
           )
           select coalesce(bool_or(is_maker), false) as has_made, coalesce(bool_or(not is_maker), false) as has_changed from same`,
    values: [runId, affiliateIds, CHANGER_WAITS_DAYS, workspace.id, ...idsOf(principal.actor)],
  });
  const [row] = rows;
  if (row?.has_made === true)
    throw new ApiError("forbidden", "you made this run: somebody else has to approve it");
  if (row?.has_changed === true)
    throw new ApiError(
      "forbidden",
      `you changed payment details of a partner in this run within ${CHANGER_WAITS_DAYS} days: somebody else has to approve it`,
    );
}
