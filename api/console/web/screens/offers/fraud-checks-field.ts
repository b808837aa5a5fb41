import type { FormField } from "../../records/form-field.ts";

/** Which signs of fraud hold a conversion back. */
export function fraudChecksField(name: string, label: string): FormField {
  return {
    name,
    label,
    kind: "group",
    isSparse: true,
    isNullable: true,
    isFolded: true,
    fields: [
      { name: "bot", label: "Bots", kind: "flag" },
      { name: "datacenter", label: "Data centres", kind: "flag" },
      { name: "proxy_hint", label: "Proxies", kind: "flag" },
      { name: "headless", label: "Headless browsers", kind: "flag" },
      { name: "missing_ua", label: "No user agent", kind: "flag" },
      {
        name: "duplicate_click_ip",
        label: "Clicks of an address each day, at most",
        kind: "number",
        isNullable: true,
      },
      {
        name: "duplicate_conv_ip",
        label: "Conversions of an address each day, at most",
        kind: "number",
        isNullable: true,
      },
      {
        name: "duplicate_conv_subnet24",
        label: "Conversions of a network each day, at most",
        kind: "number",
        isNullable: true,
      },
    ],
  };
}
