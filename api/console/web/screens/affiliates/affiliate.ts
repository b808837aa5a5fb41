import type { components } from "../../../../../.build/console/openapi.ts";

export type Affiliate = components["schemas"]["Affiliate"];

export const PARTNER_LIST = { path: "/partners", title: "Partners" } as const;
