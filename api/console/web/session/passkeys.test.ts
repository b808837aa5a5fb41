import { expect, test } from "vitest";
import { namedAddress } from "./passkeys.ts";

test("an address of this machine has a name at which passkeys work; a host name needs no other", () => {
  expect(namedAddress({ hostname: "127.0.0.1", port: "8081" })).toBe(
    "http://localhost:8081/console/",
  );
  expect(namedAddress({ hostname: "[::1]", port: "" })).toBe("http://localhost/console/");
  expect(namedAddress({ hostname: "localhost", port: "8081" })).toBeUndefined();
  expect(namedAddress({ hostname: "tracker.example", port: "" })).toBeUndefined();
});
