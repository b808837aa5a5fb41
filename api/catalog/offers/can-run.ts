import { ACCESS_TO_RUN } from "../../../schemas/catalog/may-run.ts";

const ALLOWED = Object.entries(ACCESS_TO_RUN).flatMap(([visibility, byStatus]) =>
  Object.entries(byStatus)
    .filter(([, isAllowed]) => isAllowed)
    .map(([status]) => `('${visibility}', '${status}')`),
);

/**
 * Whether partner `f` may run offer `o` of advertiser `adv` with the access record `ac`, which may be missing: nothing is paused,
 * the record allows it, and the terms of the offer are accepted (G48, G189). The click path uses the same table.
 */
export const CAN_RUN = `(o.status = 'active' and adv.status = 'active' and f.status = 'active'
  and (o.visibility, coalesce(ac.status, 'none')) in (${ALLOWED.join(", ")})
  and (o.terms is null or ac.terms_accepted_at is not null))`;
