import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite, unrestrictedStaff } from "../../access/access-of-operations.ts";
import { noteChange } from "../../access/change-log.ts";
import { showTo } from "../../access/visibility.ts";
import { presentFields } from "../../http/patch.ts";
import { conflict, validationFailed } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import {
  type BillingSettings,
  findBillingSettings,
  lockBillingSettings,
  saveBillingSettings,
} from "./billing-settings.ts";
import { PatchBillingSettings, ShownBillingSettings } from "./billing-settings-fields.ts";

const PATH = "/billing-settings";
const output = z.object({ data: ShownBillingSettings });

export const getBillingSettings: Operation = operation({
  name: "getBillingSettings",
  method: "GET",
  path: PATH,
  tag: "Billing",
  summary: "Get the billing settings",
  description: "Billing is off until `enabled` is set: before that no conversion is posted.",
  access: unrestrictedStaff,
  input: {},
  output,
  status: 200,
  run: async ({ db, workspace, principal }) => ({
    body: { data: shown(principal, await findBillingSettings(db, workspace.id)) },
  }),
});

export const updateBillingSettings: Operation = operation({
  name: "updateBillingSettings",
  method: "PATCH",
  path: PATH,
  tag: "Billing",
  summary: "Update the billing settings",
  description:
    "Switching billing on posts all conversions created since `starts_on`, with their whole history. Older conversions belong to the old books: enter " +
    "what was open then as adjustments of kind `opening`. `starts_on` cannot be changed once something is posted. Objects are replaced as a whole.",
  access: {
    ...unrestrictedAdminWrite,
    needsFresh: ["approval", "auto_approve", "payment_change_hold_hours"],
  },
  input: { body: PatchBillingSettings },
  output,
  status: 200,
  failures: ["conflict"],
  run: async (context, { body }) => {
    const { db, workspace, principal } = context;
    const settings = await inTransaction(db, async (tx) => {
      await lockBillingSettings(tx, workspace.id);
      const before = await findBillingSettings(tx, workspace.id);
      const after = changed(before, body);
      const isSwitched = after.enabled && (!before.enabled || after.starts_on !== before.starts_on);
      await saveBillingSettings(tx, workspace.id, { settings: after, isSwitched });
      await noteChange(tx, context, { resource: "billing-settings", before, after });
      return await findBillingSettings(tx, workspace.id);
    });
    return { body: { data: shown(principal, settings) } };
  },
});

/** @throws {ApiError} */
function changed(before: BillingSettings, body: PatchBillingSettings): BillingSettings {
  const { payout_currency: _only, ...given } = presentFields(body);
  const after = { ...before, ...given };
  // A payment of an advertiser may have been posted before anybody has set a first day.
  const isFixed = before.has_entries && before.starts_on !== null;
  if (isFixed && after.starts_on !== before.starts_on)
    throw conflict("starts_on", "something is posted, so the first day stays as it is");
  if (after.enabled && after.starts_on === null)
    throw validationFailed({ starts_on: "required to switch billing on" });
  return after;
}

function shown({ role }: Principal, settings: BillingSettings): Record<string, unknown> {
  return showTo(role, "billing_settings", { ...settings, payout_currency: "offer" });
}
