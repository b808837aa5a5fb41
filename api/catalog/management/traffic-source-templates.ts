import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { name, shownTime, text } from "../../fields/body-fields.ts";
import { recordIds, subTexts } from "../../fields/catalog-fields.ts";
import { manage } from "../../records/manage.ts";

/** Sub IDs and a source ID that clicks of the named partners must have; other clicks are refused as traffic_source (G181). */
export const trafficSourceTemplates = manage({
  resource: "traffic_source_template",
  names: { one: "TrafficSourceTemplate", many: "TrafficSourceTemplates" },
  path: "/traffic-source-templates",
  table: "traffic_source_template",
  fields: {
    name: name(),
    traffic_source: text(255),
    params: subTexts,
    source_id: text(255),
    affiliate_ids: recordIds,
  },
  required: ["name"],
  defaults: { traffic_source: "", params: {}, source_id: "", affiliate_ids: [] },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  shown: {
    name: z.string(),
    traffic_source: z.string(),
    params: z.record(z.string(), z.string()),
    source_id: z.string(),
    affiliate_ids: z.array(z.int()),
  },
  read: staff("links.read"),
  write: adminWrite("offers.write"),
  references: { affiliate_ids: "affiliate" },
});
