import { expect, test } from "vitest";
import { RestRoutes } from "./routes.ts";

const routes = new RestRoutes([
  { method: "GET", path: "/offers" },
  { method: "POST", path: "/offers" },
  { method: "PATCH", path: "/offers/{id}" },
  { method: "POST", path: "/offers/check" },
  { method: "PUT", path: "/offers/{id}/affiliates/{affiliate}" },
]);

test.each([
  ["/offers", "GET, HEAD, POST"],
  ["/offers/7", "PATCH"],
  ["/offers/check", "POST"],
  ["/offers/7/affiliates/ABC123", "PUT"],
  ["/offers/", undefined],
  ["/offers/7/affiliates", undefined],
  ["/", undefined],
  ["", undefined],
] as const)("%s takes %s (ERR-006)", (path, allowed) => {
  expect(routes.allowed(path)).toBe(allowed);
});
