import { read } from "./api-client.ts";
import { nameInBatch } from "./name-batch.ts";
import type { Reader } from "./reports.ts";

/** `detail` tells records of the same name apart, such as a code. */
export type Choice = readonly [value: string, words: string, detail?: string];

const CHOICES_MAX = 200;
const ID = /^[1-9]\d{0,9}$/;
const ID_MAX = 2_147_483_647;

/** Records to choose from. `isWhole` is false if there are more, which a search finds. */
export type Choices = { readonly choices: readonly Choice[]; readonly isWhole: boolean };
export type LoadChoices = {
  /** Begins the key of its answers. Two lists of offers, by ID and by code, must not share one. */
  readonly name: string;
  /** The right without which the API refuses to list them. Undefined if everybody may. */
  readonly permission?: "offers.read" | "affiliates.read" | "advertisers.read" | "links.read";
  readonly load: (reader: Reader, sought: string, signal: AbortSignal) => Promise<Choices>;
  /** The words of a choice that needs no request. */
  readonly wordsOf?: (value: string) => string;
  /** The name of a record. Undefined for choices that need no request. */
  readonly nameOf?: (reader: Reader, value: string, signal: AbortSignal) => Promise<string>;
  /** A text that no choice has may be given as well. */
  readonly takesText?: true;
};

type Row = { readonly id: number; readonly name: string; readonly code?: string };
type Answer = { readonly data: readonly Row[]; readonly next_cursor: string | null };
type Asked = { readonly limit: number; readonly q?: string; readonly ids?: number[] };
type LoadRows = (reader: Reader, asked: Asked, signal?: AbortSignal) => Promise<Answer>;

const offerRows: LoadRows = async ({ api }, query, signal) =>
  await read(api.GET("/offers", { params: { query }, ...(signal && { signal }) }));
const affiliateRows: LoadRows = async ({ api }, query, signal) =>
  await read(api.GET("/affiliates", { params: { query }, ...(signal && { signal }) }));
const advertiserRows: LoadRows = async ({ api }, query, signal) =>
  await read(api.GET("/advertisers", { params: { query }, ...(signal && { signal }) }));

/** The search of partners and advertisers knows no IDs, so a number is also asked for as one. */
async function found(
  rows: LoadRows,
  reader: Reader,
  sought: string,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly Row[]; readonly isWhole: boolean }> {
  const isId = ID.test(sought) && Number(sought) <= ID_MAX;
  const [exact, byText] = await Promise.all([
    isId ? rows(reader, { limit: 1, ids: [Number(sought)] }, signal) : { data: [] },
    rows(reader, { limit: CHOICES_MAX, ...(sought === "" ? {} : { q: sought }) }, signal),
  ]);
  const ids = new Set(exact.data.map(({ id }) => id));
  return {
    rows: [...exact.data, ...byText.data.filter(({ id }) => !ids.has(id))],
    isWhole: byText.next_cursor === null,
  };
}

function byId(
  name: string,
  permission: NonNullable<LoadChoices["permission"]>,
  rows: LoadRows,
): LoadChoices {
  return {
    name,
    permission,
    load: async (reader, sought, signal) => {
      const { rows: all, isWhole } = await found(rows, reader, sought, signal);
      const choices = all.map(
        ({ id, name: words, code }): Choice => [String(id), words, code ?? `#${id}`],
      );
      return { choices, isWhole };
    },
    nameOf: async (reader, id) =>
      await nameInBatch(reader.api, name, id, async (ids) => {
        const answer = await rows(reader, { limit: CHOICES_MAX, ids });
        return new Map(answer.data.map((row) => [String(row.id), row.name]));
      }),
  };
}

function byCode(
  name: string,
  permission: NonNullable<LoadChoices["permission"]>,
  rows: LoadRows,
  nameOf: NonNullable<LoadChoices["nameOf"]>,
): LoadChoices {
  return {
    name,
    permission,
    nameOf,
    load: async (reader, sought, signal) => {
      const { rows: all, isWhole } = await found(rows, reader, sought, signal);
      const choices = all.map(({ name: words, code = "" }): Choice => [code, words, code]);
      return { choices, isWhole };
    },
  };
}

/** Advertisers by id. */
export const advertiserChoices = byId("advertisers-by-id", "advertisers.read", advertiserRows);
/** Partners by id. */
export const affiliateIdChoices = byId("affiliates-by-id", "affiliates.read", affiliateRows);
/** Offers by id. */
export const offerIdChoices = byId("offers-by-id", "offers.read", offerRows);

/** Partners by code. */
export const affiliateChoices = byCode(
  "affiliates-by-code",
  "affiliates.read",
  affiliateRows,
  async ({ api }, id, signal) =>
    (await read(api.GET("/affiliates/{id}", { params: { path: { id } }, signal }))).data.name,
);
/** Offers by code. */
export const offerChoices = byCode(
  "offers-by-code",
  "offers.read",
  offerRows,
  async ({ api }, id, signal) =>
    (await read(api.GET("/offers/{id}", { params: { path: { id } }, signal }))).data.name,
);
