import { expect, test } from "vitest";
import { passkeySiteAt } from "./passkey-site.ts";

test.each([
  ["https://api.example", "api.example", "api.example", "https://api.example"],
  ["https://api.example:8443", "api.example:8443", "api.example", "https://api.example:8443"],
  // Behind a proxy that changes the Host, the browser still sees the public address.
  ["https://api.example", "10.0.0.5:8081", "api.example", "https://api.example"],
  ["http://127.0.0.1:8081", "localhost:8081", "localhost", "http://localhost:8081"],
])("at %s with Host %s passkeys belong to %s", (apiUrl, host, rpId, origin) => {
  expect(passkeySiteAt(host, apiUrl)).toEqual({ rpId, origin });
});

test.each([
  ["http://127.0.0.1:8081", "127.0.0.1:8081"],
  ["http://api.example", "api.example"],
  ["https://10.0.0.5", "10.0.0.5"],
  ["https://[2001:db8::1]", "[2001:db8::1]"],
  ["https://api.example", ""],
  ["http://127.0.0.1:8081", "evil.example:8081"],
])("at %s with Host %s there are no passkeys", (apiUrl, host) => {
  expect(passkeySiteAt(host, apiUrl)).toBeUndefined();
});
