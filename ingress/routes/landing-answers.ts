import { type Header, jsonAnswer } from "../answers.ts";
import type { Answer } from "../route.ts";

/** Pages of any origin may read the answers. Requests carry no credentials, so no answer depends on them (T48). */
export const OPEN_TO_ALL: Header = ["Access-Control-Allow-Origin", "*"];
const PREFLIGHT_SECONDS = "86400";
const RETRY_AFTER_SECONDS = "30";

export function landingAnswer(
  status: number,
  body: Readonly<Record<string, string>>,
  ...headers: Header[]
): Answer {
  return jsonAnswer(status, body, OPEN_TO_ALL, ...headers);
}

/** 503: the page goes on without a click, and the next page view asks again (G162). */
export function landingOutage(
  error: "click store unavailable" | "configuration not loaded",
): Answer {
  return landingAnswer(503, { error }, ["Retry-After", RETRY_AFTER_SECONDS]);
}

export const LANDING_METHODS = "POST, OPTIONS";

/** The answer to the CORS preflight of a browser. */
export const LANDING_PREFLIGHT: Answer = {
  status: 204,
  headers: [
    OPEN_TO_ALL,
    ["Access-Control-Allow-Methods", LANDING_METHODS],
    ["Access-Control-Allow-Headers", "Content-Type"],
    ["Access-Control-Max-Age", PREFLIGHT_SECONDS],
    ["Allow", LANDING_METHODS],
  ],
  body: "",
};
