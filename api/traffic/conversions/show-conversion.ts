import { showFields } from "../../access/visibility.ts";
import type { Role } from "../../operation/permissions.ts";
import type { ConversionRow } from "./conversions.ts";

/** Fields that a conversion copies from its click; "" if the click had none or there was no click. */
const FROM_CLICK = new Set(
  `domain link_type sub1 sub2 sub3 sub4 sub5 source_id traffic_source gclid gbraid wbraid fbclid ext_campaign_id ext_adgroup_id
   ext_ad_id ext_keyword ext_placement country region city device_type os browser`.split(/\s+/),
);

/** A conversion as the role sees it. */
export function showConversion(role: Role, row: ConversionRow): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = row;
  return showFields(role, "conversion", (field) =>
    FROM_CLICK.has(field) ? (row.click[field] ?? "") : values[field],
  );
}
