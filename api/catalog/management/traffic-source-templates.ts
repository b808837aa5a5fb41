import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { name, shownTime, text } from "../../fields/body-fields.ts";
import { recordIds, subTexts } from "../../fields/catalog-fields.ts";
import { field, textField } from "../../fields/field.ts";
import { manage } from "../../records/manage.ts";

/** Sub IDs and a source ID that clicks of the named partners must have; other clicks are refused as traffic_source (G181). */
export const trafficSourceTemplates = manage({
  resource: "traffic_source_template",
  names: { one: "TrafficSourceTemplate", many: "TrafficSourceTemplates" },
  path: "/traffic-source-templates",
  table: "traffic_source_template",
  fields: {
    name: field(name(), { shown: z.string(), required: true }),
    traffic_source: textField(text(255)),
    params: field(subTexts, { shown: z.record(z.string(), z.string()), unset: {} }),
    source_id: textField(text(255)),
    affiliate_ids: field(recordIds, { shown: z.array(z.int()), unset: [] }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  read: staff("links.read"),
  write: adminWrite("offers.write"),
  references: { affiliate_ids: "affiliate" },
});
