import { origins } from "./setting-types.ts";

/** Who may use MCP besides programs, which send no `Origin`. */
export const MCP_SETTINGS = {
  MCP_ORIGINS: {
    type: origins,
    default: "",
    readBy: ["api"],
    meaning:
      "origins that may use MCP besides API_URL; a request of any other origin is refused, one without `Origin` never is",
  },
} as const;
