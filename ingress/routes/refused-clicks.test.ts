import { describe, expect, test } from "vitest";
import {
  aClickService,
  answerLine,
  headerOf,
  recordOf,
} from "../../test/samples/a-click-service.ts";
import { PARAMETER_COLUMNS } from "../../test/samples/link-parameters.ts";
import { FIREFOX } from "../../test/samples/user-agents.ts";

/** More than a click keeps of a value, in the characters that take the most bytes in its record. */
const CONTROLS = "%01".repeat(600);
const FALLBACK = "https://fallback.example/?r={sub1}";

describe("where a refused click goes", () => {
  const refused = { status: "paused", destination_url: "https://shop.example/" } as const;

  test("the offer's fallback, the workspace's, the neutral page (TRK-039, TRK-040, TRK-041)", () => {
    const workspaces = [{ default_fallback_url: "https://ws.example/{affiliate_code}" }];
    const own = aClickService({ offers: [{ ...refused, fallback_url: FALLBACK }], workspaces });
    expect(answerLine(own.ask("/r/SHOP/PART01?sub1=a%20b"))).toBe(
      "302 https://fallback.example/?r=a%20b",
    );
    const default_ = aClickService({ offers: [refused], workspaces });
    expect(answerLine(default_.ask("/r/SHOP/PART01"))).toBe("302 https://ws.example/PART01");
    const neither = aClickService({ offers: [refused] }).ask("/r/SHOP/PART01");
    expect(answerLine(neither)).toBe("200 page");
    expect(neither.answer.body).toContain("This link is not available.");
    expect(recordOf(neither)).toMatchObject({
      status: "fallback",
      status_reason: "paused",
      destination: "",
    });
  });

  test("a destination that is invalid with these values goes to the fallback (TRK-034)", () => {
    const offers = [{ destination_url: "https://{sub1}/", fallback_url: FALLBACK }];
    const service = aClickService({ offers });
    for (const sub1 of [
      "a b",
      "",
      "127.0.0.1",
      "localhost",
      "a%2Fb",
      "evil@x",
      "a..b",
      "user:pw",
      "0x7f000001",
      "printer.local",
      "a%5Cb",
      "[::1]",
      "intranet",
    ]) {
      const result = service.ask(`/r/SHOP/PART01?sub1=${sub1}`);
      expect(recordOf(result), sub1).toMatchObject({
        status: "fallback",
        status_reason: "bad_destination",
      });
    }
    expect(answerLine(service.ask("/r/SHOP/PART01?sub1=www.good.example"))).toBe(
      "302 https://www.good.example/",
    );
  });

  test.each([
    ["https://{sub1}.shop.example/", ["a%20b", "", "-", "a_b"]],
    ["https://shop.example:{sub1}/", ["x", "0", "99999"]],
    ["{sub1}", ["https://shop.example/"]],
  ])("a value that makes %s invalid leads to the fallback (TRK-034)", (destination_url, values) => {
    const service = aClickService({ offers: [{ destination_url, fallback_url: FALLBACK }] });
    for (const value of values) {
      const { status_reason } = recordOf(service.ask(`/r/SHOP/PART01?sub1=${value}`));
      expect(status_reason, value).toBe("bad_destination");
    }
  });

  test("no destination makes a record too large for a message of NATS: too long is bad (TRK-034)", () => {
    const url = `https://shop.example/?g=${"{gclid}".repeat(290)}`;
    const long = { destination_url: url, fallback_url: url };
    const service = aClickService({
      offers: [
        { ...long, fail_route_offer_id: 2 },
        { ...long, code: "SECOND" },
      ],
      workspaces: [{ default_fallback_url: url }],
    });
    const extra = Array.from({ length: 60 }, (_, n) => `&${n}${CONTROLS}=${CONTROLS}`).join("");
    const values = PARAMETER_COLUMNS.map(([, [name = ""]]) => `&${name}=${CONTROLS}`).join("");
    for (const id of ["漢".repeat(512), "%01".repeat(512)]) {
      const result = service.ask(`/r/SHOP/PART01?gclid=${id}${values}${extra}`, {
        headers: {
          referer: `https://a.example/${"é".repeat(2_000)}`,
          userAgent: "é".repeat(2_000),
        },
      });
      const { status_reason, destination } = recordOf(result);
      expect([status_reason, destination.length]).toEqual(["bad_destination", 0]);
      expect(Buffer.byteLength(result.recorded?.line ?? "")).toBeLessThan(256 * 1024);
    }
    // The longest that still leads somewhere.
    const location = headerOf(service.ask(`/r/SHOP/PART01?gclid=${"g".repeat(56)}`), "Location");
    expect(location).toHaveLength("https://shop.example/?g=".length + 290 * 56);
  });

  test.each([FIREFOX, "", "curl/8.5.0", `${FIREFOX} HeadlessChrome/126`])(
    "a host that a value completes is redirected to, also for %j (T59)",
    (userAgent) => {
      const offers = [{ destination_url: "https://{sub1}.shop.example/" }];
      const result = aClickService({ offers }).ask("/r/SHOP/PART01?sub1=de", {
        headers: { userAgent },
      });
      expect(answerLine(result)).toBe("302 https://de.shop.example/");
    },
  );

  test.each([
    "ftp://a.example/",
    "https://a b.example/",
    "nothing",
    "https://",
    "javascript:alert(1)",
    "https://a.example/\r\nX: 1",
  ])("a destination that is no http(s) URL, %j, is bad whatever the values", (destination_url) => {
    const result = aClickService({ offers: [{ destination_url }] }).ask("/r/SHOP/PART01");
    expect(recordOf(result).status_reason).toBe("bad_destination");
    expect(answerLine(result)).toBe("200 page");
  });

  test("a fallback that is no URL is passed over", () => {
    const workspaces = [{ default_fallback_url: "https://ws.example/" }];
    const service = aClickService({
      offers: [{ ...refused, fallback_url: "mailto:x" }],
      workspaces,
    });
    expect(answerLine(service.ask("/r/SHOP/PART01"))).toBe("302 https://ws.example/");
  });

  test("letters beyond ASCII in a destination leave percent-encoded, escapes as they are", () => {
    const offers = [{ destination_url: "https://shop.example/größe?a=%C3%BC&b=c+d&s={sub1}" }];
    const result = aClickService({ offers }).ask("/r/SHOP/PART01?sub1=%C3%A9+%2B");
    expect(answerLine(result)).toBe(
      "302 https://shop.example/gr%C3%B6%C3%9Fe?a=%C3%BC&b=c+d&s=%C3%A9%20%2B",
    );
  });
});
