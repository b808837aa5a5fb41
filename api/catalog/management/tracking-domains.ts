import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { staff, unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { flag, oneOf, recordId, shownTime } from "../../fields/body-fields.ts";
import { trackingHost } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
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
    host: field(trackingHost, { shown: z.string(), required: true }),
    scheme: field(oneOf(...SCHEMES), { shown: z.enum(SCHEMES), unset: "https" }),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
    is_default: field(flag, { shown: z.boolean(), unset: false }),
    certification: field(oneOf(...CERTIFICATIONS), {
      shown: z.enum(CERTIFICATIONS),
      unset: "not_certified",
    }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
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
    domain_id: field(recordId, { shown: z.int(), required: true }),
    affiliate_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
    offer_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
  },
  readOnly: { id: z.int(), created_at: shownTime },
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
