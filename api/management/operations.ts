import type { Operation } from "../operation.ts";
import { conversionRules } from "./conversion-rules.ts";
import { coupons } from "./coupons.ts";
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

/** The operations of management.md. */
export const managementOperations: readonly Operation[] = [
  ...withoutDelete(users),
  ...all(trackingDomains),
  ...withoutUpdate(trackingDomainAssignments),
  ...withoutUpdate(linkKeys),
  ...all(smartLinks),
  ...all(trafficSourceTemplates),
  ...all(trafficControls),
  ...all(offerGroups),
  ...all(payoutOverrides),
  ...all(conversionRules),
  ...all(coupons),
  ...Object.values(offerSettings),
  ...Object.values(affiliateSettings),
  ...Object.values(advertiserSettings),
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
