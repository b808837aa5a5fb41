import { billingOperations } from "./billing/billing-operations.ts";
import { decideAccessRequests } from "./catalog/access-requests/decide-access-requests.ts";
import { listAccessRequests } from "./catalog/access-requests/list-access-requests.ts";
import {
  getAccessRequest,
  requestAccess,
  withdrawAccessRequest,
} from "./catalog/access-requests/request-access.ts";
import { advertisers } from "./catalog/advertisers/advertisers.ts";
import { affiliates } from "./catalog/affiliates/affiliates.ts";
import { listAffiliateOffers } from "./catalog/affiliates/list-affiliate-offers.ts";
import { updateAffiliates } from "./catalog/affiliates/update-affiliates.ts";
import { listCreatives } from "./catalog/creatives/list-creatives.ts";
import { oneCreative } from "./catalog/creatives/one-creative.ts";
import { dealOperations } from "./catalog/deals/deal-operations.ts";
import { lintAdPlatform, lintGoogleAds } from "./catalog/links/lint-operations.ts";
import { testTemplate } from "./catalog/links/test-template.ts";
import { createEvent } from "./catalog/offers/create-event.ts";
import { createOffer } from "./catalog/offers/create-offer.ts";
import { deleteOffer } from "./catalog/offers/delete-offer.ts";
import { getOffer } from "./catalog/offers/get-offer.ts";
import { listOffers } from "./catalog/offers/list-offers.ts";
import { acceptOfferTerms, getOfferTerms } from "./catalog/offers/offer-terms.ts";
import { setPartnerAccess } from "./catalog/offers/set-partner-access.ts";
import { updateOffer } from "./catalog/offers/update-offer.ts";
import { getTrackingLink } from "./catalog/tracking-links/get-tracking-link.ts";
import { listLinkHosts } from "./catalog/tracking-links/list-link-hosts.ts";
import { managementOperations } from "./management-operations.ts";
import {
  getPostbackDelivery,
  listPostbackDeliveries,
  retryPostbackDeliveries,
  retryPostbackDelivery,
} from "./messages/postbacks/postback-delivery-operations.ts";
import { postbacks } from "./messages/postbacks/postbacks.ts";
import { testPostback } from "./messages/postbacks/test-postback.ts";
import type { Operation } from "./operation/operation.ts";
import { peopleOperations } from "./people/operations.ts";
import { getReport } from "./reports/get-report.ts";
import { getTimeseries } from "./reports/get-timeseries.ts";
import { listDimensions, listMetrics } from "./reports/list-definitions.ts";
import { savedViewOperations } from "./reports/saved-views/saved-view-operations.ts";
import { listCapUsage } from "./traffic/cap-usage/list-cap-usage.ts";
import { getClick } from "./traffic/clicks/get-click.ts";
import { listClicks } from "./traffic/clicks/list-clicks.ts";
import { createConversion } from "./traffic/conversions/create-conversion.ts";
import { getConversion } from "./traffic/conversions/get-conversion.ts";
import { listConversionDeliveries } from "./traffic/conversions/list-conversion-deliveries.ts";
import { listConversionHistory } from "./traffic/conversions/list-conversion-history.ts";
import { listConversions } from "./traffic/conversions/list-conversions.ts";
import { updateConversion } from "./traffic/conversions/update-conversion.ts";
import { updateConversions } from "./traffic/conversions/update-conversions.ts";
import { validateConversion } from "./traffic/conversions/validate-conversion.ts";
import { getMe } from "./workspace/account/get-me.ts";
import { listOwnEvents } from "./workspace/account/list-own-events.ts";
import { listOwnPostbackLog } from "./workspace/account/list-own-postback-log.ts";
import { createOwnKey, listOwnKeys, revokeOwnKey } from "./workspace/account/own-keys.ts";
import {
  getOwnPostbackToken,
  rotateOwnPostbackToken,
} from "./workspace/account/own-token-operations.ts";
import { getProfile, updateProfile } from "./workspace/account/profile.ts";
import { testOwnPostback } from "./workspace/account/test-own-postback.ts";
import { getAttention } from "./workspace/attention/get-attention.ts";
import { conversionUpdateOperations } from "./workspace/conversion-updates/operations.ts";
import { importOperations } from "./workspace/imports/import-operations.ts";
import { getSystem } from "./workspace/system/get-system.ts";
import { systemOperations } from "./workspace/system/workspace-operations.ts";

/** Everything the API can do, in the order of the contract. REST, MCP and the OpenAPI document are made from this list. */
export const operations: readonly Operation[] = [
  getMe,
  getProfile,
  updateProfile,
  listOwnKeys,
  createOwnKey,
  revokeOwnKey,
  getAttention,
  getOwnPostbackToken,
  rotateOwnPostbackToken,
  listOwnPostbackLog,
  listOwnEvents,
  testOwnPostback,
  listOffers,
  getOffer,
  createOffer,
  updateOffer,
  deleteOffer,
  createEvent,
  setPartnerAccess,
  getOfferTerms,
  acceptOfferTerms,
  getAccessRequest,
  requestAccess,
  withdrawAccessRequest,
  listAccessRequests,
  listCapUsage,
  decideAccessRequests,
  listCreatives,
  oneCreative.get,
  oneCreative.create,
  oneCreative.update,
  oneCreative.remove,
  affiliates.list,
  affiliates.get,
  affiliates.create,
  affiliates.update,
  updateAffiliates,
  listAffiliateOffers,
  advertisers.list,
  advertisers.get,
  advertisers.create,
  advertisers.update,
  getReport,
  getTimeseries,
  listMetrics,
  listDimensions,
  listClicks,
  getClick,
  listConversions,
  getConversion,
  listConversionHistory,
  listConversionDeliveries,
  validateConversion,
  createConversion,
  updateConversion,
  updateConversions,
  postbacks.list,
  postbacks.get,
  postbacks.create,
  postbacks.update,
  postbacks.remove,
  testPostback,
  listPostbackDeliveries,
  retryPostbackDeliveries,
  getPostbackDelivery,
  retryPostbackDelivery,
  ...dealOperations,
  getTrackingLink,
  listLinkHosts,
  lintGoogleAds,
  lintAdPlatform,
  testTemplate,
  ...managementOperations,
  ...peopleOperations,
  ...savedViewOperations,
  ...importOperations,
  ...billingOperations,
  ...conversionUpdateOperations,
  getSystem,
  ...systemOperations,
];
