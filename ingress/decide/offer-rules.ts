import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { Offer, SmartLink, Targeting, Workspace } from "../../schemas/catalog/records.ts";
import { type Allowlist, compileAllowlist, isAllowed } from "./allowlist.ts";
import { compiled, derivedIndex } from "./derived-index.ts";
import { compileDestination, type Destination } from "./destination.ts";
import { type CompiledTargeting, compileTargeting } from "./targeting.ts";

/** Values computed once per offer and not per click. */
export type OfferRules = {
  readonly destination: Destination | undefined;
  readonly fallback: Destination | undefined;
  readonly allowlist: Allowlist;
  /** Undefined when every visitor may pass. */
  readonly targeting: CompiledTargeting | undefined;
};

export type WorkspaceRules = {
  readonly fallback: Destination | undefined;
  readonly allowlist: Allowlist;
};

/** Schedules without a time zone of their own are read in UTC. */
const SCHEDULE_TIMEZONE = "UTC";

/** The catalog keeps equal targeting once, so its compiled form is shared too. */
const sharedTargeting = compiled<Targeting, CompiledTargeting | undefined>((targeting) =>
  compileTargeting(targeting, SCHEDULE_TIMEZONE),
);

export const offerRules = compiled<Offer, OfferRules>((offer) => {
  const destination = compileDestination(offer.destination_url);
  return {
    destination,
    fallback: compileDestination(offer.fallback_url),
    allowlist: compileAllowlist(offer.allowed_domains, destination?.host),
    targeting: sharedTargeting(offer.targeting),
  };
});

export const workspaceRules = compiled<Workspace, WorkspaceRules>((workspace) => ({
  fallback: compileDestination(workspace.default_fallback_url),
  allowlist: compileAllowlist(workspace.allowed_destinations),
}));

/** Conditions of a smart link's rules, in order. */
export const smartLinkRules = compiled<SmartLink, readonly (CompiledTargeting | undefined)[]>(
  (link) => link.rules.map((rule) => compileTargeting(rule.conditions, SCHEDULE_TIMEZONE)),
);

/**
 * Workspaces by what one of their active offers allows: `shop.example` is the name itself and `.shop.example` the names below it, on
 * any port or, with `:8443`, on that port.
 */
const workspacesAllowing = derivedIndex<Offer, ReadonlyMap<string, ReadonlySet<number>>>(
  (catalog) => catalog.offers,
  (offers) => {
    const allowing = new Map<string, Set<number>>();
    const add = (key: string, workspaceId: number): void => {
      const known = allowing.get(key);
      if (known === undefined) allowing.set(key, new Set([workspaceId]));
      else known.add(workspaceId);
    };
    for (const offer of offers) {
      if (offer.status !== "active") continue;
      for (const [host, rules] of offerRules(offer).allowlist) {
        for (const { itself, below, port } of rules) {
          const name = port === "" ? host : `${host}:${port}`;
          if (itself) add(name, offer.workspace_id);
          if (below) add(`.${name}`, offer.workspace_id);
        }
      }
    }
    return allowing;
  },
);

/** Whether any of these workspaces, or any active offer of theirs, allows the host: the rule for unknown links (G140). */
export function isAllowedAnywhere(
  catalog: Catalog,
  workspaceIds: readonly number[],
  target: { readonly host: string; readonly port: string },
): boolean {
  const { host, port } = target;
  for (const id of workspaceIds) {
    const workspace = catalog.workspaces.get(id);
    if (workspace !== undefined && isAllowed(workspaceRules(workspace).allowlist, host, port)) {
      return true;
    }
  }
  const allowing = workspacesAllowing(catalog);
  const isServed = (key: string): boolean => {
    const allowed = allowing.get(key);
    return allowed !== undefined && workspaceIds.some((id) => allowed.has(id));
  };
  for (let from = 0; from >= 0; from = host.indexOf(".", from) + 1 || -1) {
    const name = from === 0 ? host : host.slice(from - 1);
    if (isServed(name) || isServed(`${name}:${port}`)) return true;
  }
  return false;
}
