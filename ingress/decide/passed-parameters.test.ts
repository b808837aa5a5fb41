import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aClickService, headerOf } from "../../test/samples/a-click-service.ts";
import { anyText } from "../../test/samples/any-text.ts";
import { LOCATION_LENGTH_MAX } from "./destination.ts";
import { withParameters } from "./passed-parameters.ts";

type Offer = {
  readonly destination_url: string;
  readonly pass_parameters?: "none" | "utm" | "all";
};

function locationOf(offer: Offer, query: string, path = "/r/SHOP/PART01"): string {
  return headerOf(aClickService({ offers: [offer] }).ask(`${path}?${query}`), "Location") ?? "";
}

describe("parameters of a link that reach the landing page (G244)", () => {
  const QUERY =
    "sub1=s&utm_source=news&foo=a%20b%26c&utm_campaign=Mai+%C3%BC&gclid=G&foo=second&empty=&tag={tag}&click_id=x";
  const destination_url = "https://shop.example/buy";

  test.each([
    ["none", ""],
    ["utm", "?utm_source=news&utm_campaign=Mai%20%C3%BC"],
    ["all", "?utm_source=news&foo=a%20b%26c&utm_campaign=Mai%20%C3%BC"],
  ] as const)("%s", (pass_parameters, query) => {
    expect(locationOf({ destination_url, pass_parameters }, QUERY)).toBe(destination_url + query);
  });

  test("without the setting nothing is passed", () => {
    expect(locationOf({ destination_url }, QUERY)).toBe(destination_url);
  });

  test("what names the link, the destination or the click is not passed", () => {
    const offer = { destination_url, pass_parameters: "all" } as const;
    const query = "oid=SHOP&aid=PART01&tid=x&transaction_id=x&foo=1";
    expect(locationOf(offer, query, "/click")).toBe(`${destination_url}?foo=1`);
    const url = encodeURIComponent("https://shop.example/p");
    expect(locationOf(offer, `foo=1&url=${url}`)).toBe("https://shop.example/p");
  });

  test("names copied with &amp; are plain, and an ampersand in place of ? begins the query", () => {
    const offer = { destination_url, pass_parameters: "all" } as const;
    expect(locationOf(offer, "foo=1&amp;utm_term=t")).toBe(`${destination_url}?foo=1&utm_term=t`);
    const service = aClickService({ offers: [offer] });
    expect(headerOf(service.ask("/r/SHOP/PART01&foo=1"), "Location")).toBe(
      `${destination_url}?foo=1`,
    );
  });

  test.each([
    [
      "https://shop.example/?foo=own&c={click_id}#top",
      /^https:\/\/shop\.example\/\?foo=own&c=[0-9a-f]{32}&bar=2#top$/,
    ],
    ["https://shop.example/?", /^https:\/\/shop\.example\/\?foo=1&bar=2$/],
    ["https://shop.example/?a=1&", /^https:\/\/shop\.example\/\?a=1&foo=1&bar=2$/],
    ["https://shop.example/#/p?foo=own", /^https:\/\/shop\.example\/\?foo=1&bar=2#\/p\?foo=own$/],
    ["https://shop.example", /^https:\/\/shop\.example\?foo=1&bar=2$/],
  ])("%s keeps its own parameters and its fragment", (url, location) => {
    expect(locationOf({ destination_url: url, pass_parameters: "all" }, "foo=1&bar=2")).toMatch(
      location,
    );
  });

  test("a forward and a fail route pass what their own offer says", () => {
    const offers = [
      { id: 1, code: "SHOP", status: "paused", fail_route_offer_id: 2, pass_parameters: "none" },
      { id: 2, code: "NEXT", destination_url, pass_parameters: "utm" },
    ] as const;
    const service = aClickService({ offers });
    expect(headerOf(service.ask("/r/SHOP/PART01?utm_source=a&foo=1"), "Location")).toBe(
      `${destination_url}?utm_source=a`,
    );
  });

  test("no value adds to the structure of a URL or makes it too long", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText(), anyText())), (parameters) => {
        const url = withParameters("https://a.example/?x=1#end", parameters);
        const { host, hash, searchParams } = new URL(url);
        expect([/[^\x21-\x7e]/.test(url), host, hash, searchParams.get("x")]).toEqual([
          false,
          "a.example",
          "#end",
          "1",
        ]);
        expect(url.length).toBeLessThanOrEqual(LOCATION_LENGTH_MAX);
      }),
    );
    const long = withParameters("https://a.example/", [
      ["a", "ü".repeat(LOCATION_LENGTH_MAX)],
      ["b", "1"],
    ]);
    expect(long).toBe("https://a.example/?b=1");
  });
});

test("{utm_…} and {param:name} are the values of the link, and empty without one (G244)", () => {
  const destination_url =
    "https://shop.example/?s={utm_source}&m={utm_medium}&c={utm_campaign}&t={utm_term}&n={utm_content}&i={utm_id}&f={param:foo}&x={param:X-1.y_z}&g={param:gclid}&none={param:none}&{param:}{param:a b}";
  const query =
    "ts=other&utm_source=news&utm_medium=e+mail&utm_campaign=c&utm_term=t&utm_content=n&utm_id=9&foo=a%26b&X-1.y_z=z&gclid=G";
  expect(locationOf({ destination_url: destination_url.replace("{param:a b}", "") }, query)).toBe(
    "https://shop.example/?s=news&m=e%20mail&c=c&t=t&n=n&i=9&f=a%26b&x=z&g=G&none=&{param:}",
  );
});

describe("hosts in other scripts (G246)", () => {
  const destination_url = "https://bücher.example:8443/ü?c={click_id}";

  test("a destination and a fallback are sent in punycode, and everything else as it was", () => {
    expect(locationOf({ destination_url }, "")).toMatch(
      /^https:\/\/xn--bcher-kva\.example:8443\/%C3%BC\?c=[0-9a-f]{32}$/,
    );
    const paused = { status: "paused", fallback_url: "https://BÜCHER.example/" } as const;
    const fallback = aClickService({ offers: [paused] }).ask("/r/SHOP/PART01");
    expect(headerOf(fallback, "Location")).toBe("https://xn--bcher-kva.example/");
    expect(locationOf({ destination_url: "https://b%C3%BCcher.example/" }, "")).toBe(
      "https://xn--bcher-kva.example/",
    );
    expect(locationOf({ destination_url: "https://SHOP.example/{sub1}" }, "sub1=ü")).toBe(
      "https://SHOP.example/%C3%BC",
    );
  });

  test.each([
    ["https://bücher.example/p", "https://b%C3%BCcher.example/p"],
    ["https://xn--bcher-kva.example/p", "https://xn--bcher-kva.example/p"],
    ["https://BÜCHER.example/p", "https://B%C3%9CCHER.example/p"],
  ])("url=%s to the offer's own host is allowed, and sent as it came (G138)", (url, expected) => {
    const location = locationOf({ destination_url }, `url=${encodeURIComponent(url)}`);
    expect(location).toBe(expected);
  });

  test("a macro before such a host is filled in", () => {
    expect(locationOf({ destination_url: "https://{sub1}.bücher.example/" }, "sub1=a")).toBe(
      "https://a.xn--bcher-kva.example/",
    );
  });
});
