import { findNearest } from "../names/nearest-name.ts";
import { REMOVED_SETTINGS } from "./removed-settings.ts";
import { SETTINGS, type SettingDefinition } from "./setting-definitions.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** No other program is known to read variables that begin like this. */
const OWN_PREFIXES = ["TRACKING_", "INGRESS_", "STRICT_", "CLICKS_", "JOURNAL_"];
/** systemd sets it for every service. */
const OF_OTHERS = new Set(["JOURNAL_STREAM"]);
/** Kubernetes sets these for each service of a namespace, and some services are named like ours. */
const OF_KUBERNETES = /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/;
const ADDRESS_OF_KUBERNETES = /^(tcp|udp|sctp):\/\//;
const EDITS_MAX = 2;
const SHORT_NAME_MAX = 8;
const MIDDLE_NAME_MAX = 11;

/**
 * One sentence for each variable that looks like a setting and is none: it resembles one, or begins like ours. An environment also holds
 * variables of other programs, so a short name must have the letters of a setting in another order.
 */
export function unknownSettings(environment: Environment): string[] {
  const known = knownNames();
  // A removed setting has a sentence of its own where it matters.
  const isKnown = new Set([...known, ...REMOVED_SETTINGS]);
  return Object.entries(environment).flatMap(([name, value = ""]) => {
    if (value === "" || isKnown.has(name) || isForeign(name, value)) return [];
    const isOwn = OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
    const nearest = findNearest(
      name,
      isOwn ? known : known.filter((one) => mayResemble(name, one)),
    );
    if (nearest === undefined || !(isOwn || resembles(name, nearest))) return [];
    return [`${name} is not a setting and has no effect. Did you mean ${nearest.name}?`];
  });
}

function knownNames(): string[] {
  return Object.entries<SettingDefinition>(SETTINGS).flatMap(([name, { isSecret }]) =>
    isSecret === true ? [name, `${name}_FILE`] : [name],
  );
}

function isForeign(name: string, value: string): boolean {
  return OF_OTHERS.has(name) || OF_KUBERNETES.test(name) || ADDRESS_OF_KUBERNETES.test(value);
}

/** Leaves few names to compare in full, because every start of a command compares the whole environment. */
function mayResemble(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > EDITS_MAX) return false;
  const given = name.toUpperCase();
  return given[0] === known[0] || given[1] === known[1];
}

function resembles(
  name: string,
  nearest: { readonly name: string; readonly edits: number },
): boolean {
  const { length } = nearest.name;
  if (lettersOf(name) === lettersOf(nearest.name)) return nearest.edits <= EDITS_MAX;
  if (length <= SHORT_NAME_MAX) return false;
  return nearest.edits <= (length <= MIDDLE_NAME_MAX ? 1 : EDITS_MAX);
}

/** The same for names that differ in the order of letters, in case or in underscores only. */
function lettersOf(name: string): string {
  return Array.from(name.toUpperCase().replaceAll(/[_-]/g, "")).toSorted().join("");
}
