import type { Choice, LoadChoices } from "../client/choices.ts";
import { readDimensionValues, VALUES_MAX } from "../client/dimension-values.ts";

/** Values that clicks of the last 30 days had, those with most clicks first. There are more than these. */
function seen(dimension: "region" | "city"): LoadChoices {
  return {
    name: `${dimension}-seen`,
    load: async (reader) => {
      const values = await readDimensionValues(reader, dimension);
      const choices = values.map(({ value }): Choice => [value, value]);
      return { choices, isWhole: values.length < VALUES_MAX };
    },
    wordsOf: (value) => value,
    takesText: true,
  };
}

export const regionChoices = seen("region");
export const cityChoices = seen("city");
