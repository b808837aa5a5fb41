import { advertisers } from "./catalog/advertisers/advertisers.ts";
import { codeAliasOperations } from "./catalog/code-aliases/code-alias-operations.ts";
import { getBlocklist, replaceBlocklist } from "./catalog/management/blocklist.ts";
import { conversionRules } from "./catalog/management/conversion-rules.ts";
import { coupons } from "./catalog/management/coupons.ts";
import { listFxRates, setFxRates } from "./catalog/management/fx-rates.ts";
import { linkKeys } from "./catalog/management/link-keys.ts";
import { offerGroups } from "./catalog/management/offer-groups.ts";
import { payoutOverrides } from "./catalog/management/payout-overrides.ts";
import {
  advertiserSettings,
  affiliateSettings,
  offerSettings,
} from "./catalog/management/settings-of-records.ts";
import { smartLinks } from "./catalog/management/smart-links.ts";
import {
  trackingDomainAssignments,
  trackingDomains,
} from "./catalog/management/tracking-domains.ts";
import { trafficControls } from "./catalog/management/traffic-controls.ts";
import { trafficSourceTemplates } from "./catalog/management/traffic-source-templates.ts";
import { users } from "./catalog/management/users.ts";
import { deleteEvent } from "./catalog/offers/delete-event.ts";
import { listPartnerAccess } from "./catalog/offers/list-partner-access.ts";
import { updateEvent } from "./catalog/offers/update-event.ts";
import { getWorkspace } from "./catalog/workspace/get-workspace.ts";
import { rotateWorkspaceToken } from "./catalog/workspace/rotate-postback-token.ts";
import { updateWorkspace } from "./catalog/workspace/update-workspace.ts";
import { listAuditLog } from "./messages/logs/list-audit-log.ts";
import { listPostbackLog } from "./messages/logs/list-postback-log.ts";
import { summarisePostbackLog } from "./messages/logs/postback-log-summary.ts";
import {
  getWebhookDelivery,
  listWebhookDeliveries,
  retryWebhookDeliveries,
  retryWebhookDelivery,
  testWebhook,
} from "./messages/webhooks/webhook-delivery-operations.ts";
import { webhooks } from "./messages/webhooks/webhooks.ts";
import type { Operation } from "./operation/operation.ts";
import { createKey } from "./people/keys/create-key.ts";
import { getKey } from "./people/keys/get-key.ts";
import { listKeys } from "./people/keys/list-keys.ts";
import { revokeKey } from "./people/keys/revoke-key.ts";
import type { ManagedOperations } from "./records/manage.ts";
import { listAdCosts } from "./traffic/ad-costs/list-ad-costs.ts";
import { setAdCosts } from "./traffic/ad-costs/set-ad-costs.ts";
import { createErasure } from "./traffic/erasures/create-erasure.ts";

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
  getWebhookDelivery,
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
