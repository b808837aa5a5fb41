import type { components } from "../../../../../.build/console/openapi.ts";

export type Conversion = components["schemas"]["Conversion"];
