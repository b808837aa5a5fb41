import { expect, test } from "vitest";
import { isSessionSentToTracking } from "./shared-host.ts";

test.each([
  ["https://one.example", "https://one.example", true],
  ["https://one.example:8443", "https://one.example", true],
  ["https://api.one.example", "https://go.one.example", false],
  ["http://127.0.0.1:8081", "http://127.0.0.1:8080", false],
])(
  "with the API at %s and links at %s a session reaches the tracking domain: %s",
  (apiUrl, trackingUrl, isSent) => {
    expect(isSessionSentToTracking({ apiUrl, trackingUrl })).toBe(isSent);
  },
);
