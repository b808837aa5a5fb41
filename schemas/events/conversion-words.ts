export const CONVERSION_STATUSES = ["approved", "pending", "rejected"] as const;
export type ConversionStatus = (typeof CONVERSION_STATUSES)[number];

/** How the report of a conversion arrived. */
export const CONVERSION_METHODS = ["s2s", "api", "js", "pixel"] as const;
