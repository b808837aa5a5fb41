import { read } from "./api-client.ts";
import type { Reader } from "./reports.ts";

export type Choice = readonly [value: string, words: string];

const CHOICES_MAX = 200;

/** Records to choose from. `isWhole` is false if there are more, which a search finds. */
export type Choices = { readonly choices: readonly Choice[]; readonly isWhole: boolean };
export type LoadChoices = {
  /** Begins the key of its answers. Two lists of offers, by ID and by code, must not share one. */
  readonly name: string;
  readonly load: (reader: Reader, sought: string, signal: AbortSignal) => Promise<Choices>;
  /** The name of a record that is not among the first choices. Undefined where the value is not an ID. */
  readonly nameOf?: (reader: Reader, id: string, signal: AbortSignal) => Promise<string>;
};

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
export const advertiserChoices: LoadChoices = {
  name: "advertisers-by-id",
  load: async ({ api }, sought, signal) =>
    choicesIn(
      await read(api.GET("/advertisers", { params: { query: queryFor(sought) }, signal })),
      ({ id }) => String(id),
    ),
  nameOf: async ({ api }, id, signal) => {
    const params = { path: { id: Number(id) } };
    return (await read(api.GET("/advertisers/{id}", { params, signal }))).data.name;
  },
};

/** Partners by code. */
export const affiliateChoices: LoadChoices = {
  name: "affiliates-by-code",
  load: async ({ api }, sought, signal) =>
    choicesIn(
      await read(api.GET("/affiliates", { params: { query: queryFor(sought) }, signal })),
      ({ code }) => code,
    ),
};

/** Partners by id. */
export const affiliateIdChoices: LoadChoices = {
  name: "affiliates-by-id",
  load: async ({ api }, sought, signal) =>
    choicesIn(
      await read(api.GET("/affiliates", { params: { query: queryFor(sought) }, signal })),
      ({ id }) => String(id),
    ),
  nameOf: async ({ api }, id, signal) =>
    (await read(api.GET("/affiliates/{id}", { params: { path: { id } }, signal }))).data.name,
};

/** Offers by code. */
export const offerChoices: LoadChoices = {
  name: "offers-by-code",
  load: async ({ api }, sought, signal) =>
    choicesIn(
      await read(api.GET("/offers", { params: { query: queryFor(sought) }, signal })),
      ({ code }) => code,
    ),
};

/** Offers by id. */
export const offerIdChoices: LoadChoices = {
  name: "offers-by-id",
  load: async ({ api }, sought, signal) =>
    choicesIn(
      await read(api.GET("/offers", { params: { query: queryFor(sought) }, signal })),
      ({ id }) => String(id),
    ),
  nameOf: async ({ api }, id, signal) =>
    (await read(api.GET("/offers/{id}", { params: { path: { id } }, signal }))).data.name,
};

/** People of the staff by id, such as managers of partners. */
export const userChoices: LoadChoices = {
  name: "users-by-id",
  load: async ({ api }, _sought, signal) =>
    choicesIn(
      await read(api.GET("/users", { params: { query: { limit: CHOICES_MAX } }, signal })),
      ({ id }) => String(id),
    ),
  nameOf: async ({ api }, id, signal) =>
    (await read(api.GET("/users/{id}", { params: { path: { id: Number(id) } }, signal }))).data
      .name,
};
