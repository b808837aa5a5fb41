import type { components } from "../../../../../.build/console/openapi.ts";

export type Member = components["schemas"]["Member"];
