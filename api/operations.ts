import { decideAccessRequests } from "./access-requests/decide-access-requests.ts";
import { listAccessRequests } from "./access-requests/list-access-requests.ts";
import {
  getAccessRequest,
  requestAccess,
  withdrawAccessRequest,
} from "./access-requests/request-access.ts";
import { getMe } from "./account/get-me.ts";
import { listOwnEvents } from "./account/list-own-events.ts";
import { listOwnPostbackLog } from "./account/list-own-postback-log.ts";
import { createOwnKey, listOwnKeys, revokeOwnKey } from "./account/own-keys.ts";
import { getOwnPostbackToken, rotateOwnPostbackToken } from "./account/own-token-operations.ts";
import { getProfile, updateProfile } from "./account/profile.ts";
import { testOwnPostback } from "./account/test-own-postback.ts";
import { advertisers } from "./advertisers/advertisers.ts";
import { affiliates } from "./affiliates/affiliates.ts";
import { listAffiliateOffers } from "./affiliates/list-affiliate-offers.ts";
import { updateAffiliates } from "./affiliates/update-affiliates.ts";
import { getAttention } from "./attention/get-attention.ts";
import { listCapUsage } from "./cap-usage/list-cap-usage.ts";
import { getClick } from "./clicks/get-click.ts";
import { listClicks } from "./clicks/list-clicks.ts";
import { createConversion } from "./conversions/create-conversion.ts";
import { getConversion } from "./conversions/get-conversion.ts";
import { listConversionDeliveries } from "./conversions/list-conversion-deliveries.ts";
import { listConversionHistory } from "./conversions/list-conversion-history.ts";
import { listConversions } from "./conversions/list-conversions.ts";
import { updateConversion } from "./conversions/update-conversion.ts";
import { updateConversions } from "./conversions/update-conversions.ts";
import { validateConversion } from "./conversions/validate-conversion.ts";
import { listCreatives } from "./creatives/list-creatives.ts";
import { oneCreative } from "./creatives/one-creative.ts";
import { dealOperations } from "./deals/deal-operations.ts";
import { importOperations } from "./imports/import-operations.ts";
import { getTrackingLink } from "./links/get-tracking-link.ts";
import { lintAdPlatform, lintGoogleAds } from "./links/lint-operations.ts";
import { testTemplate } from "./links/test-template.ts";
import { managementOperations } from "./management/operations.ts";
import { createEvent } from "./offers/create-event.ts";
import { createOffer } from "./offers/create-offer.ts";
import { deleteOffer } from "./offers/delete-offer.ts";
import { getOffer } from "./offers/get-offer.ts";
import { listOffers } from "./offers/list-offers.ts";
import { acceptOfferTerms, getOfferTerms } from "./offers/offer-terms.ts";
import { setPartnerAccess } from "./offers/set-partner-access.ts";
import { updateOffer } from "./offers/update-offer.ts";
import type { Operation } from "./operation.ts";
import { peopleOperations } from "./people/operations.ts";
import {
  listPostbackDeliveries,
  retryPostbackDeliveries,
  retryPostbackDelivery,
} from "./postbacks/postback-delivery-operations.ts";
import { postbacks } from "./postbacks/postbacks.ts";
import { getReport } from "./reports/get-report.ts";
import { getTimeseries } from "./reports/get-timeseries.ts";
import { listDimensions, listMetrics } from "./reports/list-definitions.ts";
import { savedViewOperations } from "./saved-views/saved-view-operations.ts";
import { getSystem } from "./system/get-system.ts";
import { systemOperations } from "./system/workspace-operations.ts";

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
  listPostbackDeliveries,
  retryPostbackDeliveries,
  retryPostbackDelivery,
  ...dealOperations,
  getTrackingLink,
  lintGoogleAds,
  lintAdPlatform,
  testTemplate,
  ...managementOperations,
  ...peopleOperations,
  ...savedViewOperations,
  ...importOperations,
  getSystem,
  ...systemOperations,
];
