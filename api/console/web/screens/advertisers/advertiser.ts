import type { components } from "../../../../../.build/console/openapi.ts";

export type Advertiser = components["schemas"]["Advertiser"];

export const ADVERTISER_LIST = { path: "/advertisers", title: "Advertisers" } as const;
