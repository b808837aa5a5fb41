import type { Role } from "../access/permissions.ts";
import { showTo } from "../access/visibility.ts";
import type { ConversionRow } from "./conversions.ts";

/** What a conversion has from its click; "" where the click had none, or where there was no click. */
const FROM_CLICK = [
  ...["domain", "link_type", "sub1", "sub2", "sub3", "sub4", "sub5", "source_id", "traffic_source"],
  ...["gclid", "gbraid", "wbraid", "fbclid"],
  ...["ext_campaign_id", "ext_adgroup_id", "ext_ad_id", "ext_keyword", "ext_placement"],
  ...["country", "region", "city", "device_type", "os", "browser"],
];

/** A conversion as the role sees it (section 2.9). */
export function showConversion(role: Role, row: ConversionRow): Record<string, unknown> {
  const fromClick = Object.fromEntries(FROM_CLICK.map((field) => [field, row.click[field] ?? ""]));
  return showTo(role, "conversion", { ...row, ...fromClick });
}
