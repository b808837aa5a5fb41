import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());

test.each(["/reports", "/reports/timeseries"])(
  "every filters= of %s counts, not only the first (G67)",
  async (path) => {
    const good = "filters=country:in:US";
    for (const query of ["filters=nonsense:in:1", "filters=offer:zz:1", "filters=offer"]) {
      const answer = await world.get(`${path}?${good}&${good}&${query}`);
      expect([query, refusal(answer), details(answer).param]).toEqual([
        query,
        "400 invalid_parameter",
        "filters",
      ]);
    }
  },
);

test("the first value of a repeated parameter that is no list counts", async () => {
  expect((await world.get("/offers?limit=1&limit=9999")).status).toBe(200);
  expect(refusal(await world.get("/offers?limit=9999&limit=1"))).toBe("400 invalid_parameter");
});
