import { describe, expect, test } from "vitest";
import type { Targeting } from "../../schemas/catalog/records.ts";
import { parseTrustedProxies } from "../../schemas/net/forwarded-for.ts";
import { aRequest } from "../../test/samples/a-request.ts";
import { openDevices } from "../request/device.ts";
import type { GeoFacts } from "../request/geo.ts";
import { readVisit, type Visit } from "../request/visit.ts";
import { compileTargeting } from "./targeting.ts";

const BERLIN: GeoFacts = {
  country: "DE",
  region: "Berlin",
  city: "Bad Saarow",
  asn: 0,
  asName: "",
  isDatacenter: false,
};

function aVisit(geo: Partial<GeoFacts> = {}, headers: Parameters<typeof aRequest>[0] = {}): Visit {
  const readers = {
    trustedProxies: parseTrustedProxies([]),
    devices: openDevices(),
    geo: { locate: () => ({ ...BERLIN, ...geo }) },
  };
  return readVisit(aRequest(headers), readers, "secret");
}

const judge = (targeting: Targeting, visit = aVisit(), at = "2026-06-10T12:00:00Z"): string =>
  compileTargeting(targeting, "UTC")?.judge(visit, Date.parse(at)) ?? "everybody";

describe("targeting (G41, TRK-029)", () => {
  test.each<[Targeting, string]>([
    [{}, "everybody"],
    [{ countries_allow: [] }, "everybody"],
    [{ countries_allow: ["us", "de"] }, "fits"],
    [{ countries_allow: ["US"] }, "misses"],
    [{ countries_deny: ["De"] }, "misses"],
    [{ countries_deny: ["US"] }, "fits"],
    [{ regions_allow: ["BERLIN"] }, "fits"],
    [{ regions_allow: ["Bavaria"] }, "misses"],
    [{ cities_allow: ["bad saarow"] }, "fits"],
    [{ cities_allow: ["Berlin"] }, "misses"],
    [{ devices_allow: ["Desktop"] }, "fits"],
    [{ devices_allow: ["mobile", "tablet"] }, "misses"],
    [{ devices_deny: ["desktop"] }, "misses"],
    [{ os_allow: ["windows"] }, "fits"],
    [{ os_allow: ["iOS", "Android"] }, "misses"],
    [{ os_deny: ["Windows"] }, "misses"],
    [{ browsers_allow: ["chrome"] }, "fits"],
    [{ browsers_allow: ["Safari"] }, "misses"],
    [{ browsers_deny: ["Chrome"] }, "misses"],
    [{ languages_allow: ["EN"] }, "fits"],
    [{ languages_allow: ["en_US"] }, "fits"],
    [{ languages_allow: ["en-gb", "de"] }, "misses"],
    [{ connection: "any" }, "everybody"],
    [{ connection: "no_proxy" }, "fits"],
    [{ countries_allow: ["DE"], devices_allow: ["mobile"] }, "misses"],
  ])("%j: %s", (targeting, expected) => {
    expect(judge(targeting)).toBe(expected);
    expect(judge(targeting), "the same when asked again").toBe(expected);
  });

  test("a visitor without known facts fails an allow list and passes a deny list", () => {
    const nowhere = aVisit({ country: "", city: "" });
    expect(judge({ countries_allow: ["DE"] }, nowhere)).toBe("misses");
    expect(judge({ countries_deny: ["DE"] }, nowhere)).toBe("fits");
    expect(judge({ cities_allow: [""] }, nowhere)).toBe("misses");
  });

  test("a proxy that names itself fails no_proxy", () => {
    const proxied = aVisit({}, { headers: { via: "1.1 squid" } });
    expect(judge({ connection: "no_proxy" }, proxied)).toBe("misses");
  });

  test.each([
    ["de-AT,en;q=0.5", "fits"],
    ["en,de;q=0.9", "misses"],
  ])("only the first language of %s counts: %s", (acceptLanguage, expected) => {
    const speaking = aVisit({}, { headers: { acceptLanguage } });
    expect(judge({ languages_allow: ["de"] }, speaking)).toBe(expected);
  });
});

describe("schedules (G41)", () => {
  const schedule = (rule: NonNullable<Targeting["schedule"]>, at: string): string =>
    judge({ schedule: rule }, aVisit(), at);

  test("days and hours are those of the schedule's zone, also through a change of clocks", () => {
    // 2026-06-10 is a Wednesday; in Auckland it is Thursday from 12:00 UTC.
    const thursdays = { tz: "Pacific/Auckland", days: [4] };
    expect(schedule(thursdays, "2026-06-10T11:59:59Z")).toBe("closed");
    expect(schedule(thursdays, "2026-06-10T12:00:00Z")).toBe("fits");
    const nine = { tz: "Europe/Berlin", hours: [9] };
    expect(schedule(nine, "2026-03-28T08:30:00Z")).toBe("fits");
    expect(schedule(nine, "2026-03-30T08:30:00Z")).toBe("closed");
    expect(schedule(nine, "2026-03-30T07:30:00Z")).toBe("fits");
    expect(schedule({ tz: "UTC", days: [7], hours: [23] }, "2026-06-14T23:59:59Z")).toBe("fits");
    expect(schedule({ days: [], hours: [] }, "2026-06-14T23:59:59Z")).toBe("fits");
  });

  test("a schedule begins at its start and is over at its end", () => {
    const rule = {
      tz: "Asia/Kolkata",
      starts_at: "2026-06-10T00:00:00",
      ends_at: "2026-06-11T00:00:00+05:30",
    };
    expect(schedule(rule, "2026-06-09T18:29:59Z")).toBe("closed");
    expect(schedule(rule, "2026-06-09T18:30:00Z")).toBe("fits");
    expect(schedule(rule, "2026-06-10T18:29:59Z")).toBe("fits");
    expect(schedule(rule, "2026-06-10T18:30:00Z")).toBe("closed");
    expect(schedule({ tz: "Asia/Kolkata", starts_at: "2026-06-10" }, "2026-06-09T18:30:00Z")).toBe(
      "fits",
    );
    expect(schedule({ starts_at: null, ends_at: "" }, "2026-06-09T18:30:00Z")).toBe("fits");
  });

  test("outside of the schedule a click is closed, whatever other condition it misses", () => {
    expect(judge({ countries_allow: ["US"], schedule: { ends_at: "2026-01-01" } })).toBe("closed");
  });
});
