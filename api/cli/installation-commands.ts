import { z } from "zod";
import { BlocklistEntries } from "../catalog/management/blocklist.ts";
import {
  addInstallationEntries,
  listInstallationEntries,
  removeInstallationEntries,
} from "../catalog/management/installation-blocklist.ts";
import {
  listInstallationRates,
  Rate,
  setInstallationRates,
} from "../catalog/management/reference-rates.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { JSON_OUTPUT } from "./options.ts";
import { table } from "./table.ts";

/*
 * Settings of the whole installation, which only the operator writes (G201). No workspace's audit log contains these commands.
 */

const RATES_LISTED_MAX = 1_000;
const ENTRY = {
  name: "ENTRY",
  summary: "host, or host and path prefix; several at once",
  isRepeated: true,
} as const;

const listBlocklist: Command = {
  name: "blocklist list",
  summary: "targets to which no workspace's links may redirect",
  options: JSON_OUTPUT,
  examples: ["blocklist list"],
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const entries = await listInstallationEntries(db);
      if (given.has("json")) return JSON.stringify(entries, null, 2);
      return entries.length === 0
        ? "The blocklist of the installation is empty. `blocklist add` adds to it."
        : entries.join("\n");
    }),
};

const addToBlocklist: Command = {
  name: "blocklist add",
  operand: ENTRY,
  summary: "adds targets to which no link may redirect",
  options: {},
  examples: ["blocklist add bad.example worse.example/path"],
  notes: "Each workspace also has a list of its own: PUT /blocklist.",
  run: async (given, environment) => {
    const entries = entriesOf(given.operands);
    return await withDatabase(environment, async (db) => {
      const added = await addInstallationEntries(db, entries);
      return `${added} of ${entries.length} added; the others were already listed.`;
    });
  },
};

const removeFromBlocklist: Command = {
  name: "blocklist remove",
  operand: ENTRY,
  summary: "removes targets from that list",
  options: {},
  examples: ["blocklist remove bad.example"],
  run: async (given, environment) => {
    const entries = entriesOf(given.operands);
    return await withDatabase(environment, async (db) => {
      const removed = await removeInstallationEntries(db, entries);
      return `${removed} of ${entries.length} removed; the others were not listed.`;
    });
  },
};

/** @throws {UsageError} for an invalid entry. */
function entriesOf(operands: readonly string[]): string[] {
  const parsed = BlocklistEntries.safeParse(operands);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(`${operands[Number(issue?.path[0] ?? 0)] ?? ""}: ${issue?.message ?? ""}.`);
}

const listRates: Command = {
  name: "fx-rates list",
  summary: `reference rates of the installation, newest day first, at most ${RATES_LISTED_MAX}`,
  options: { ...JSON_OUTPUT, currency: { value: "CUR", summary: "only of this currency" } },
  examples: ["fx-rates list --currency USD"],
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const currency = given.text("currency")?.toUpperCase();
      const rates = await listInstallationRates(db, { currency, rowsMax: RATES_LISTED_MAX });
      if (given.has("json")) return JSON.stringify(rates, null, 2);
      return table(
        [
          { title: "DATE", value: ({ date }) => date },
          { title: "CURRENCY", value: (one) => one.currency },
          { title: "PER EUR", value: ({ rate }) => rate },
          { title: "SET BY", value: ({ source }) => (source === "manual" ? "operator" : source) },
        ],
        rates,
        "There is no rate. The daily feed adds rates, or set one with `fx-rates set`.",
      );
    }),
};

const setRates: Command = {
  name: "fx-rates set",
  operand: {
    name: "CURRENCY=RATE",
    summary: "units of the currency per EUR; several at once",
    isRepeated: true,
  },
  summary: "sets reference rates of the installation",
  options: { date: { value: "DAY", summary: "such as 2026-01-31; default: today in UTC" } },
  examples: ["fx-rates set USD=1.0842 GBP=0.8510 --date 2026-01-31"],
  notes:
    "The daily feed does not replace these rates. A workspace's own rates (POST /fx-rates) take precedence over them.",
  run: async (given, environment) => {
    const date = given.text("date") ?? new Date().toISOString().slice(0, 10);
    const rates = given.operands.map((pair) => rateOf(pair, date));
    return await withDatabase(environment, async (db) => {
      await setInstallationRates(db, rates);
      return `Set for ${date}: ${rates.map(({ currency }) => currency).join(", ")}.`;
    });
  },
};

/** @throws {UsageError} for an invalid rate. */
function rateOf(pair: string, date: string): Rate {
  const [currency = "", rate, ...rest] = pair.split("=");
  if (rate === undefined || rest.length > 0)
    throw new UsageError(`"${pair}" is not of the form CURRENCY=RATE.`);
  const parsed = Rate.safeParse({ date, currency, rate });
  if (!parsed.success) throw new UsageError(`${pair}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

export const installationCommands: readonly Command[] = [
  listBlocklist,
  addToBlocklist,
  removeFromBlocklist,
  listRates,
  setRates,
];
