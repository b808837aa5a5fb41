import type { Choice } from "../parts/choice-field.tsx";
import { read } from "./api-client.ts";
import type { Reader } from "./reports.ts";

const CHOICES_MAX = 200;

/** Records to choose from. `isWhole` is false if there are more, which a search finds. */
export type Choices = { readonly choices: readonly Choice[]; readonly isWhole: boolean };
export type LoadChoices = (reader: Reader, sought: string, signal: AbortSignal) => Promise<Choices>;

type Row = { readonly id: number; readonly name: string };
type Answer<One extends Row> = {
  readonly data: readonly One[];
  readonly next_cursor: string | null;
};

function choicesIn<One extends Row>(
  { data, next_cursor: next }: Answer<One>,
  valueOf: (row: One) => string,
): Choices {
  return {
    choices: data.map((row): Choice => [valueOf(row), row.name]),
    isWhole: next === null,
  };
}

const queryFor = (sought: string) => ({
  limit: CHOICES_MAX,
  ...(sought === "" ? {} : { q: sought }),
});

/** Advertisers by id. */
export const advertiserChoices: LoadChoices = async ({ api }, sought, signal) =>
  choicesIn(
    await read(api.GET("/advertisers", { params: { query: queryFor(sought) }, signal })),
    ({ id }) => String(id),
  );

/** Partners by code. */
export const affiliateChoices: LoadChoices = async ({ api }, sought, signal) =>
  choicesIn(
    await read(api.GET("/affiliates", { params: { query: queryFor(sought) }, signal })),
    ({ code }) => code,
  );

/** Offers by code. */
export const offerChoices: LoadChoices = async ({ api }, sought, signal) =>
  choicesIn(
    await read(api.GET("/offers", { params: { query: queryFor(sought) }, signal })),
    ({ code }) => code,
  );

/** Offers by id. */
export const offerIdChoices: LoadChoices = async ({ api }, sought, signal) =>
  choicesIn(
    await read(api.GET("/offers", { params: { query: queryFor(sought) }, signal })),
    ({ id }) => String(id),
  );
