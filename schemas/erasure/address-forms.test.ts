import { expect, test } from "vitest";
import { addressForms } from "./address-forms.ts";

test.each([
  ["203.0.113.9", ["203.0.113.9"], ["203.0.113.0"]],
  [
    "2001:DB8:0:0::1",
    [
      "2001:db8::1",
      "2001:db8:0:0::1",
      "2001:db8:0:0:0:0:0:1",
      "2001:0db8:0000:0000:0000:0000:0000:0001",
    ],
    ["2001:db8:0::", "2001:db8::"],
  ],
  [
    "::ffff:203.0.113.9",
    [
      "203.0.113.9",
      "::ffff:203.0.113.9",
      "0:0:0:0:0:ffff:cb00:7109",
      "0000:0000:0000:0000:0000:ffff:cb00:7109",
    ],
    ["203.0.113.0"],
  ],
])("%s is looked for in each form that a store may have (#19, G207)", (ip, whole, truncated) => {
  expect(addressForms(ip)).toEqual({ whole, truncated });
});

test.each(["", "203.0.113", "fe80::1%eth0", "a.example"])("%s is no address", (text) => {
  expect(addressForms(text)).toBeUndefined();
});
