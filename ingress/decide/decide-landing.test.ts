import { expect, test } from "vitest";
import { SECRET } from "../../test/samples/a-catalog.ts";
import { aClickService } from "../../test/samples/a-click-service.ts";
import { aRequest } from "../../test/samples/a-request.ts";
import { readLandingRequest } from "../request/landing-request.ts";
import { readVisit } from "../request/visit.ts";
import { decideLanding, landingScope } from "./decide-landing.ts";

type Parts = Parameters<typeof aClickService>[0];
/** Noon of a Wednesday. */
const AT_MS = Date.UTC(2026, 5, 10, 12);

/** The decision on a landing request, in one line. */
function decide(parts: Parts, body: object, host = "localhost"): string {
  const { deps } = aClickService(parts);
  const read = readLandingRequest(Buffer.from(JSON.stringify(body)));
  if (read.kind === "malformed") throw new Error(read.error);
  const visit = readVisit(aRequest(), deps, SECRET);
  const scope = landingScope(deps.catalog, host, read.landing);
  const target = decideLanding(deps.catalog, read.landing, scope, { visit, atMs: AT_MS });
  if (target.kind === "refused") return target.error;
  const { linkType, workspace, offer, affiliate } = target;
  return `${linkType} w${workspace.id} o${offer?.id ?? 0} a${affiliate?.id ?? 0}`;
}

test.each<[string, Parts, object, string]>([
  ["an offer", {}, { offer: "SHOP" }, "direct w1 o1 a0"],
  ["an offer in small letters", {}, { offer: "shop" }, "direct w1 o1 a0"],
  ["an offer by its id", {}, { offer: 1 }, "direct w1 o1 a0"],
  ["an offer and a partner", {}, { offer: "SHOP", aff: "part01" }, "direct w1 o1 a1"],
  ["no offer", {}, {}, "offer required"],
  ["a partner alone", {}, { aff: "PART01" }, "offer required"],
  ["an unknown offer", {}, { offer: "NONE" }, "unknown offer"],
  ["an unknown partner", {}, { offer: "SHOP", aff: "NONE" }, "unknown affiliate"],
  [
    "an inactive workspace",
    { workspaces: [{ status: "inactive" }] },
    { offer: "SHOP" },
    "workspace not active",
  ],
  ["a paused offer", { offers: [{ status: "paused" }] }, { offer: "SHOP" }, "offer not active"],
  [
    "a paused advertiser",
    { advertisers: [{ status: "paused" }] },
    { offer: "SHOP" },
    "offer not active",
  ],
  [
    "an offer outside its schedule",
    { offers: [{ targeting: { schedule: { days: [7] } } }] },
    { offer: "SHOP" },
    "offer not active",
  ],
  [
    "a blocked partner",
    { affiliates: [{ status: "blocked" }] },
    { offer: "SHOP", aff: "PART01" },
    "affiliate not active",
  ],
  [
    "a partner who is not approved for an offer by approval",
    { offers: [{ visibility: "approval" }] },
    { offer: "SHOP", aff: "PART01" },
    "affiliate not approved for this offer",
  ],
  [
    "a partner who is rejected for a public offer",
    { access: [{ offer_id: 1, affiliate_id: 1, status: "rejected" }] },
    { offer: "SHOP", aff: "PART01" },
    "affiliate not approved for this offer",
  ],
  [
    "an approved partner",
    { offers: [{ visibility: "private" }], access: [{ offer_id: 1, affiliate_id: 1 }] },
    { offer: "SHOP", aff: "PART01" },
    "direct w1 o1 a1",
  ],
  [
    "a visitor who does not fit the offer's targeting",
    { offers: [{ targeting: { countries_allow: ["JP"] } }] },
    { offer: "SHOP" },
    "direct w1 o1 a0",
  ],
])("%s (LP-006, LP-007, LP-010, LP-011, LP-013, LP-014)", (_, parts, body, expected) => {
  expect(decide(parts, body)).toBe(expected);
});

const ORGANIC: Parts = { workspaces: [{ organic_affiliate_id: 1 }] };

test.each<[string, Parts, object, string]>([
  ["without an offer", ORGANIC, {}, "organic w1 o0 a1"],
  ["with an offer", ORGANIC, { offer: "SHOP" }, "organic w1 o1 a1"],
  ["whatever partner the page names", ORGANIC, { aff: "NONE" }, "organic w1 o0 a1"],
  ["of a workspace without an organic partner", {}, {}, "unknown affiliate"],
  [
    "of an organic partner who is not active",
    { ...ORGANIC, affiliates: [{ status: "blocked" }] },
    {},
    "affiliate not active",
  ],
  ["of an unknown offer", ORGANIC, { offer: "NONE" }, "unknown offer"],
  [
    "of a paused offer",
    { ...ORGANIC, offers: [{ status: "paused" }] },
    { offer: "SHOP" },
    "offer not active",
  ],
  [
    "of an offer by approval",
    { ...ORGANIC, offers: [{ visibility: "approval" }] },
    { offer: "SHOP" },
    "organic w1 o1 a1",
  ],
  [
    "of an inactive workspace",
    { workspaces: [{ organic_affiliate_id: 1, status: "inactive" }] },
    {},
    "workspace not active",
  ],
])("an organic visit %s (LP-018)", (_, parts, body, expected) => {
  expect(decide(parts, { organic: true, ...body })).toBe(expected);
});

const TWO: Parts = {
  workspaces: [{}, { slug: "other", organic_affiliate_id: 2 }],
  advertisers: [{}, { workspace_id: 2 }],
  offers: [
    {},
    { workspace_id: 2, advertiser_id: 2 },
    { workspace_id: 2, advertiser_id: 2, code: "ONLY" },
  ],
  affiliates: [{}, { workspace_id: 2, code: "PART02" }],
  domains: [{ host: "one.example" }],
};

test.each<[string, object, string, string]>([
  [
    "an offer of a workspace that it does not serve",
    { offer: "ONLY" },
    "one.example",
    "this tracking domain does not serve the offer",
  ],
  ["its own offer of two with one code", { offer: "SHOP" }, "one.example", "direct w1 o1 a0"],
  ["an offer of any workspace when it is unlisted", { offer: "ONLY" }, "x", "direct w2 o3 a0"],
  ["the lowest workspace of two", { offer: "SHOP" }, "x", "direct w1 o1 a0"],
  [
    "the workspace that has the partner too",
    { offer: "SHOP", aff: "PART02" },
    "x",
    "direct w2 o2 a2",
  ],
  ["the workspace that takes organic visits", { organic: true }, "x", "organic w2 o0 a2"],
  ["no organic visit of another workspace", { organic: true }, "one.example", "unknown affiliate"],
])("a host answers for %s (LP-011, G26, G153)", (_, body, host, expected) => {
  expect(decide(TWO, body, host)).toBe(expected);
});
