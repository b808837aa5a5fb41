import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { staff, unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { flag, oneOf, recordId, shownTime } from "../../fields/body-fields.ts";
import { trackingHost } from "../../fields/catalog-fields.ts";
import { idParam, wordParam } from "../../http/query-fields.ts";
import { manage } from "../../records/manage.ts";
import { lockWorkspace } from "../workspace/workspace.ts";

const SCHEMES = ["https", "http"] as const;
const STATUSES = ["active", "inactive"] as const;
const CERTIFICATIONS = ["certified", "pending", "not_certified"] as const;

/** Hosts of links. A workspace has at most one default: setting a new one replaces it. */
export const trackingDomains = manage({
  resource: "tracking_domain",
  names: { one: "TrackingDomain", many: "TrackingDomains" },
  path: "/tracking-domains",
  table: "tracking_domain",
  fields: {
    host: trackingHost,
    scheme: oneOf(...SCHEMES),
    status: oneOf(...STATUSES),
    is_default: flag,
    certification: oneOf(...CERTIFICATIONS),
  },
  required: ["host"],
  defaults: {
    scheme: "https",
    status: "active",
    is_default: false,
    certification: "not_certified",
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  shown: {
    host: z.string(),
    scheme: z.enum(SCHEMES),
    status: z.enum(STATUSES),
    is_default: z.boolean(),
    certification: z.enum(CERTIFICATIONS),
  },
  filters: { status: wordParam(...STATUSES), certification: wordParam(...CERTIFICATIONS) },
  read: staff("links.read"),
  write: unrestrictedAdminWrite,
  taken: {
    tracking_domain_host: "host",
    tracking_domain_owner: "host",
    tracking_domain_shared: {
      field: "host",
      message: "the host is shared with others and keeps its name",
    },
  },
  beforeWrite: async (tx, workspaceId, values) => {
    if (values["is_default"] !== true) return;
    // If two defaults are set at once, the second sees the first and clears it.
    await lockWorkspace(tx, workspaceId);
    await clearDefault(tx, workspaceId, values["id"]);
  },
});

async function clearDefault(tx: Queryable, workspaceId: number, id: unknown): Promise<void> {
  await tx.query({
    name: "clear-default-domain",
    text: `update tracking_domain set is_default = false, updated_at = clock_timestamp()
           where workspace_id = $1 and is_default and id <> coalesce($2::integer, 0)`,
    values: [workspaceId, id],
  });
}

/** Assigns a domain to the links of a partner, an offer or both (G182). */
export const trackingDomainAssignments = manage({
  resource: "tracking_domain_assignment",
  names: { one: "TrackingDomainAssignment", many: "TrackingDomainAssignments" },
  path: "/tracking-domain-assignments",
  table: "tracking_domain_assignment",
  fields: {
    domain_id: recordId,
    affiliate_id: recordId.nullable(),
    offer_id: recordId.nullable(),
  },
  required: ["domain_id"],
  defaults: { affiliate_id: null, offer_id: null },
  readOnly: { id: z.int(), created_at: shownTime },
  shown: {
    domain_id: z.int(),
    affiliate_id: z.int().nullable(),
    offer_id: z.int().nullable(),
  },
  filters: { domain_id: idParam, affiliate_id: idParam, offer_id: idParam },
  read: staff("links.read"),
  write: unrestrictedAdminWrite,
  references: { domain_id: "tracking_domain", affiliate_id: "affiliate", offer_id: "offer" },
  taken: { tracking_domain_assignment_workspace_id_affiliate_id_offer__key: "domain_id" },
  findFaults: (_context, { affiliate_id, offer_id }) =>
    affiliate_id === null && offer_id === null
      ? { affiliate_id: "expected a partner, an offer or both" }
      : {},
});
