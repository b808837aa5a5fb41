import { expect, test } from "vitest";
import { capBucket } from "../../../schemas/catalog/cap-bucket.ts";
import { CAP_PERIODS } from "../../../schemas/catalog/records.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { openStores, Stores } from "../../services/stores.ts";

const ZONES = [
  "UTC",
  "Asia/Kolkata",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Europe/Berlin",
];

const stores = await forThisFile(openStores({ label: "periods" }).then((open) => new Stores(open)));

test.each(ZONES)(
  "caps of clicks and of conversions have the same periods all through a year in %s (P17)",
  async (zone) => {
    for (const period of CAP_PERIODS) {
      const instants = await stores.rows<{ at: string; starts: string }>(
        `select (extract(epoch from at) * 1000)::bigint as at, cap_bucket_start($1, at, $2)::text as starts
         from generate_series(timestamptz '2026-01-01 00:00Z', '2027-01-01 00:00Z', interval '15 minutes') at`,
        [period, zone],
      );
      const pairs = instants.map(({ at, starts }) => {
        const bucket = capBucket(period, zone, Number(at));
        return { bucket, starts, both: `${bucket} ${starts}` };
      });
      const size = (field: "bucket" | "starts" | "both"): number =>
        new Set(pairs.map((pair) => pair[field])).size;
      expect([period, size("bucket"), size("starts")]).toEqual([
        period,
        size("both"),
        size("both"),
      ]);
    }
  },
);
