import { expect, test } from "vitest";
import { addressesInHosts } from "./resolve-host.ts";

const HOSTS = `127.0.0.1 localhost
# 10.0.0.9 gone.example
10.0.0.1\tInner.example  inner # 10.0.0.2 inner
::1 inner
not-an-address inner
`;

test.each([
  ["inner", ["10.0.0.1", "::1"]],
  ["inner.example", ["10.0.0.1"]],
  ["gone.example", []],
  ["10.0.0.1", []],
])("the hosts file gives %s the addresses %j", (name, addresses) => {
  expect(addressesInHosts(HOSTS, name)).toEqual(addresses);
});
