import { expect, test } from "vitest";
import { words } from "../../../test/samples/words.ts";
import { endpointFault } from "./endpoint-url.ts";

const URL_FAULT = /http or https/;
const ADDRESS_FAULT = /not an address/;
const INTERNAL_FAULT = /public host name/;

test.each<[fault: RegExp, urls: readonly string[]]>([
  [
    URL_FAULT,
    ["ftp://hooks.example/", "hooks.example", "//hooks.example/", "http://", "https:// x.example/"],
  ],
  [/user name/, ["https://user:pass@hooks.example/", "https://user@hooks.example/"]],
  [
    ADDRESS_FAULT,
    words(`
  http://93.184.216.34/ http://[2606:2800:220:1::1]/ http://2130706433/ http://0x7f.1/
  http://127.0.0.1/ http://[::1]:8080/ http://[::ffff:10.0.0.1]/
`),
  ],
  [
    INTERNAL_FAULT,
    words(`
  http://localhost:8080/ http://LOCALHOST./ http://app.localhost/ http://intranet/
  http://db.internal/ http://printer.local/ http://metadata.google.internal/ http://nas.lan/
  http://x.home.arpa/ http://a.corp/
`),
  ],
])("the fault %s is reported for %j (WH-016)", (fault, urls) => {
  for (const url of urls) expect(endpointFault(url, { allowLoopback: false }), url).toMatch(fault);
});

test.each([
  "http://hooks.shop.example",
  "https://hooks.example:8443/a/b?c=d",
  "https://xn--bcher-kva.example/",
])("%s is accepted (WH-016)", (url) => {
  expect(endpointFault(url, { allowLoopback: false })).toBeUndefined();
});

test("allowLoopback accepts loopback and nothing else that is private (WH-016, G127)", () => {
  const fault = (url: string): string | undefined => endpointFault(url, { allowLoopback: true });
  for (const url of ["http://127.0.0.1:9/", "http://localhost:9/x", "http://[::1]:9/"])
    expect(fault(url), url).toBeUndefined();
  const refused = ["http://10.0.0.1/", "http://127.0.0.2/", "http://db.internal/"];
  for (const url of [...refused, "http://u:p@localhost/"]) expect(fault(url), url).toBeDefined();
});
