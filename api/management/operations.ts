import { listAdCosts } from "../ad-costs/list-ad-costs.ts";
import { setAdCosts } from "../ad-costs/set-ad-costs.ts";
import { advertisers } from "../advertisers/advertisers.ts";
import { codeAliasOperations } from "../code-aliases/code-alias-operations.ts";
import { createErasure } from "../erasures/create-erasure.ts";
import { createKey } from "../keys/create-key.ts";
import { getKey } from "../keys/get-key.ts";
import { listKeys } from "../keys/list-keys.ts";
import { revokeKey } from "../keys/revoke-key.ts";
import { listAuditLog } from "../logs/list-audit-log.ts";
import { listPostbackLog } from "../logs/list-postback-log.ts";
import { summarisePostbackLog } from "../logs/postback-log-summary.ts";
import { deleteEvent } from "../offers/delete-event.ts";
import { listPartnerAccess } from "../offers/list-partner-access.ts";
import { updateEvent } from "../offers/update-event.ts";
import type { Operation } from "../operation.ts";
import {
  listWebhookDeliveries,
  retryWebhookDeliveries,
  retryWebhookDelivery,
  testWebhook,
} from "../webhooks/webhook-delivery-operations.ts";
import { webhooks } from "../webhooks/webhooks.ts";
import { getWorkspace } from "../workspace/get-workspace.ts";
import { rotateWorkspaceToken } from "../workspace/rotate-postback-token.ts";
import { updateWorkspace } from "../workspace/update-workspace.ts";
import { getBlocklist, replaceBlocklist } from "./blocklist.ts";
import { conversionRules } from "./conversion-rules.ts";
import { coupons } from "./coupons.ts";
import { listFxRates, setFxRates } from "./fx-rates.ts";
import { linkKeys } from "./link-keys.ts";
import type { ManagedOperations } from "./manage.ts";
import { offerGroups } from "./offer-groups.ts";
import { payoutOverrides } from "./payout-overrides.ts";
import { advertiserSettings, affiliateSettings, offerSettings } from "./settings-of-records.ts";
import { smartLinks } from "./smart-links.ts";
import { trackingDomainAssignments, trackingDomains } from "./tracking-domains.ts";
import { trafficControls } from "./traffic-controls.ts";
import { trafficSourceTemplates } from "./traffic-source-templates.ts";
import { users } from "./users.ts";

/** The management endpoints (schemas/contract/management.md). */
export const managementOperations: readonly Operation[] = [
  getWorkspace,
  updateWorkspace,
  rotateWorkspaceToken,
  ...withoutDelete(users),
  listKeys,
  getKey,
  createKey,
  revokeKey,
  ...all(trackingDomains),
  ...withoutUpdate(trackingDomainAssignments),
  ...withoutUpdate(linkKeys),
  ...all(smartLinks),
  ...codeAliasOperations,
  ...all(trafficSourceTemplates),
  ...all(trafficControls),
  ...all(offerGroups),
  ...all(payoutOverrides),
  ...all(conversionRules),
  ...all(coupons),
  ...Object.values(offerSettings),
  updateEvent,
  deleteEvent,
  listPartnerAccess,
  ...Object.values(affiliateSettings),
  ...Object.values(advertiserSettings),
  ...advertisers.rotate,
  listAdCosts,
  setAdCosts,
  listFxRates,
  setFxRates,
  getBlocklist,
  replaceBlocklist,
  createErasure,
  ...all(webhooks),
  ...webhooks.rotate,
  testWebhook,
  listWebhookDeliveries,
  retryWebhookDeliveries,
  retryWebhookDelivery,
  listPostbackLog,
  summarisePostbackLog,
  listAuditLog,
];

function all({ list, get, create, update, remove }: ManagedOperations): Operation[] {
  return [list, get, create, update, remove];
}

function withoutUpdate({ list, get, create, remove }: ManagedOperations): Operation[] {
  return [list, get, create, remove];
}

function withoutDelete({ list, get, create, update }: ManagedOperations): Operation[] {
  return [list, get, create, update];
}
