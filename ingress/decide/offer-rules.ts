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

/** Active offers by every host that one of them allows, with the workspaces of these offers. */
const offersByHost = derivedIndex<Offer, ReadonlyMap<string, readonly Offer[]>>(
  (catalog) => catalog.offers,
  (offers) => {
    const byHost = new Map<string, Offer[]>();
    for (const offer of offers) {
      if (offer.status !== "active") continue;
      for (const host of offerRules(offer).allowlist.keys()) {
        const known = byHost.get(host);
        if (known === undefined) byHost.set(host, [offer]);
        else known.push(offer);
      }
    }
    return byHost;
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
  const byHost = offersByHost(catalog);
  const served = new Set(workspaceIds);
  for (let from = 0; from >= 0; from = host.indexOf(".", from) + 1 || -1) {
    for (const offer of byHost.get(host.slice(from)) ?? []) {
      const { allowlist } = offerRules(offer);
      if (served.has(offer.workspace_id) && isAllowed(allowlist, host, port)) return true;
    }
  }
  return false;
}
