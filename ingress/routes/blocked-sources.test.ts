import { describe, expect, test } from "vitest";
import type { CatalogParts } from "../../test/samples/a-catalog.ts";
import { aClickService, recordOf } from "../../test/samples/a-click-service.ts";

const NEXT_OFFER = { id: 2, code: "NEXT", destination_url: "https://next.example/{click_id}" };
const forward = { action: "forward", forward_offer_id: 2 } as const;

describe("a source that an offer blocks does not reach it by another way (#36, TRK-036, G146, G234)", () => {
  const blocks = { conditions: { offer_ids: [2], source_ids: ["bad"] } };
  const paths = ["/r/SHOP/PART01?source_id=bad", "/r/SHOP/PART01?source_id=good"];
  const seen = (parts: CatalogParts, targets = paths): string[] =>
    targets.map((path) => {
      const { status_reason, offer_id } = recordOf(aClickService(parts).ask(path));
      return `${status_reason} ${offer_id}`;
    });

  test("by a fail route", () => {
    const offers = [{ status: "paused", fail_route_offer_id: 2 } as const, NEXT_OFFER];
    expect(seen({ offers, controls: [blocks] })).toEqual(["paused 1", "fail_route 2"]);
    const everywhere = [{ conditions: { source_ids: ["bad"] } }];
    const open = [{ fail_route_offer_id: 2 }, NEXT_OFFER];
    expect(seen({ offers: open, controls: everywhere })).toEqual(["traffic_control 1", " 1"]);
  });

  test("by a forward", () => {
    const offers = [{}, NEXT_OFFER];
    for (const controls of [
      [{ ...forward, conditions: { offer_ids: [1] } }, blocks],
      [blocks, forward],
    ])
      expect(seen({ offers, controls })).toEqual(["traffic_control 1", "forwarded 2"]);
    // The forward of that offer leads on to a third one, but a click is forwarded once.
    const onwards = { ...forward, forward_offer_id: 3, conditions: { offer_ids: [2] } };
    const first = { ...forward, conditions: { offer_ids: [1] } };
    const chain = { offers: [...offers, { id: 3, code: "LAST" }], controls: [first, onwards] };
    expect(seen(chain)).toEqual(["traffic_control 1", "traffic_control 1"]);
  });

  test("by a smart link, and by the fail route of the offer that it chose", () => {
    const toward = (offer_id: number) => ({ conditions: {}, offers: [{ offer_id, weight: 1 }] });
    const smartLinks = [{ code: "smart", rules: [{ name: "all", ...toward(2) }] }];
    const smart = ["/s/smart-PART01?source_id=bad", "/s/smart-PART01?source_id=good"];
    expect(seen({ offers: [{}, NEXT_OFFER], smartLinks, controls: [blocks] }, smart)).toEqual([
      "no_match 0",
      " 2",
    ]);
    const broken = { destination_url: "https://{sub1}/", fail_route_offer_id: 2 };
    const first = [{ code: "smart", rules: [{ name: "all", ...toward(1) }] }];
    const parts = { offers: [broken, NEXT_OFFER], smartLinks: first, controls: [blocks] };
    expect(seen(parts, smart)).toEqual(["bad_destination 1", "fail_route 2"]);
    // A rule that forwards everybody to the chosen offer has nothing to do there.
    const controls = [forward];
    expect(seen({ offers: [{}, NEXT_OFFER], smartLinks, controls }, smart)).toEqual([" 2", " 2"]);
  });
});
