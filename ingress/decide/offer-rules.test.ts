import { expect, test } from "vitest";
import { aCatalog } from "../../test/samples/a-catalog.ts";
import { processorTimeRatio } from "../../test/samples/processor-time.ts";
import { isAllowed } from "./allowlist.ts";
import { isAllowedAnywhere, offerRules } from "./offer-rules.ts";

test("an unknown link asks as little beside 1,000 offers of a host as beside one (P40)", () => {
  const target = { host: "sub.shop.example", port: "443" };
  const askBeside = (count: number): (() => void) => {
    const offers = Array.from({ length: count }, (_, n) => ({ code: `O${n}` }));
    const catalog = aCatalog({ offers });
    return () => {
      for (let n = 0; n < 1_000; n += 1)
        expect(isAllowedAnywhere(catalog, [1], target)).toBe(false);
    };
  };
  const compared = { usual: askBeside(1), other: askBeside(1_000) };
  expect(processorTimeRatio(compared, 3)).toBeLessThan(3);
});

test("an unknown link may lead where an active offer of a served workspace allows it (G140)", () => {
  const catalog = aCatalog({
    workspaces: [{}, { slug: "two" }],
    offers: [
      { allowed_domains: ["*.below.example", "port.example:8443", "*.both.example:81"] },
      { code: "B", allowed_domains: ["both.example", "plain.example"] },
      { code: "C", allowed_domains: ["two.example"], workspace_id: 2, destination_url: "" },
      { code: "D", allowed_domains: ["paused.example"], status: "paused" },
    ],
  });
  const names = ["below", "port", "both", "plain", "two", "paused", "shop", "other"];
  const hosts = names.flatMap((name) => [`${name}.example`, `a.${name}.example`]);
  const active = [...catalog.offers.values()].filter(({ status }) => status === "active");
  for (const host of hosts) {
    for (const port of ["443", "8443", "81"]) {
      for (const ids of [[1], [2], [1, 2], []]) {
        const isExpected = active.some(
          (offer) =>
            ids.includes(offer.workspace_id) && isAllowed(offerRules(offer).allowlist, host, port),
        );
        expect(isAllowedAnywhere(catalog, ids, { host, port }), `${host}:${port}`).toBe(isExpected);
      }
    }
  }
});
