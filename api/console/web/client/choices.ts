import type { Choice } from "../parts/choice-field.tsx";
import { read } from "./api-client.ts";
import { useRecord } from "./records.ts";
import type { Reader } from "./reports.ts";

const CHOICES_MAX = 200;

/** The first advertisers by name, to choose from. */
export function useAdvertiserChoices(reader: Reader): readonly Choice[] {
  const { data } = useRecord(reader, {
    name: "advertisers",
    id: "choices",
    load: async (signal) =>
      (
        await read(
          reader.api.GET("/advertisers", { params: { query: { limit: CHOICES_MAX } }, signal }),
        )
      ).data,
  });
  return data?.map(({ id, name }): Choice => [String(id), name]) ?? [];
}

export function useOfferChoices(reader: Reader): readonly Choice[] {
  const { data } = useRecord(reader, {
    name: "offers",
    id: "choices",
    load: async (signal) =>
      (await read(reader.api.GET("/offers", { params: { query: { limit: CHOICES_MAX } }, signal })))
        .data,
  });
  return data?.map(({ code, name }): Choice => [code, name]) ?? [];
}

export function useAffiliateChoices(reader: Reader): readonly Choice[] {
  const { data } = useRecord(reader, {
    name: "affiliates",
    id: "choices",
    load: async (signal) =>
      (
        await read(
          reader.api.GET("/affiliates", { params: { query: { limit: CHOICES_MAX } }, signal }),
        )
      ).data,
  });
  return data?.map(({ code, name }): Choice => [code, name]) ?? [];
}
