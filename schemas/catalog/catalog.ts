import { DEFAULT_LANE_COUNT, Lanes } from "../events/lanes.ts";
import { type AccessState, AccessTable } from "./access-table.ts";
import { AliasTable } from "./alias-table.ts";
import { CodeIndex, foldCase, recordsByCode } from "./code-index.ts";
import { CodedRecords } from "./coded-records.ts";
import { type CatalogEntry, entriesOf } from "./entry.ts";
import { HostTable } from "./host-table.ts";
import { OwnedRecords } from "./owned-records.ts";
import type {
  Advertiser,
  Affiliate,
  ConversionRule,
  Coupon,
  Installation,
  LinkKey,
  Offer,
  OfferEvent,
  OfferGroup,
  PayoutOverride,
  SmartLink,
  TrafficControl,
  TrafficSourceTemplate,
  Workspace,
  WorkspaceBlocklistEntry,
} from "./records.ts";
import { SharedValues } from "./shared-values.ts";
import { type TokenOwner, TokenTable } from "./token-table.ts";

/** Partner ids fit below this, so that an (offer, partner) pair is one exact number. */
const AFFILIATES_MAX = 2 ** 26;

/**
 * The catalog in memory, with the look-ups that the hot path needs. Changes are applied between requests, all of a
 * refresh in one go, so that a request sees one version. Invariant: every index holds exactly the records of its map.
 */
export class Catalog {
  version = 0;
  /** Rises with every change, even when `version` goes back. Caches of derived values use it as their key. */
  revision = 0;
  /** Rises when Postgres was restored: values derived before that may be wrong (G206). */
  generation = 0;
  /** "" until the installation entry is loaded. */
  secret = "";
  /** The lanes of a new installation until the installation entry is loaded. */
  lanes = new Lanes(DEFAULT_LANE_COUNT);
  /** Lanes to which an ingress routes new clicks: the lanes of the first load, until the ingress sets others. */
  routedLanes = this.lanes;
  readonly workspaces = new Map<number, Workspace>();
  readonly advertisers = new Map<number, Advertiser>();
  readonly offers = new Map<number, Offer>();
  readonly smartLinks = new Map<number, SmartLink>();
  readonly sourceTemplates = new Map<number, TrafficSourceTemplate>();
  readonly trafficControls = new Map<number, TrafficControl>();
  readonly blocklist = new Map<number, string>();
  readonly workspaceBlocklist = new Map<number, WorkspaceBlocklistEntry>();

  readonly #events = new OwnedRecords<OfferEvent>();
  readonly #access = new AccessTable();
  readonly overrides = new OwnedRecords<PayoutOverride>();
  readonly #groups = new Map<number, OfferGroup>();
  readonly #groupsOfOffer = new Map<number, readonly OfferGroup[]>();
  readonly #rules = new Map<number, ConversionRule>();
  /** Active rules of each workspace in order; rebuilt at first use after a change. */
  readonly #rulesOfWorkspace = new Map<number, readonly ConversionRule[]>();
  readonly #coupons = new CodedRecords<Coupon>();
  readonly #linkKeys = new Map<number, LinkKey>();
  readonly #offerIdsByCode = new CodeIndex();
  readonly #partners = new CodedRecords<Affiliate>();
  readonly affiliates = this.#partners.byId;
  readonly #smartLinkIdsByCode = new CodeIndex();
  readonly #linkKeyIds = new CodeIndex();
  readonly aliases = new AliasTable(this);
  readonly #tokens = new TokenTable(this.workspaces, this.advertisers);
  readonly #hosts = new HostTable(this.workspaces);
  readonly #caps = new SharedValues();
  readonly #targeting = new SharedValues();

  apply(entries: readonly CatalogEntry[]): void {
    if (entries.length === 0) return;
    this.revision += 1;
    this.#hosts.forgetServed();
    for (const entry of entries) {
      this.#remove(entry);
      if (entry.record !== null) this.#add(entry);
      this.version = Math.max(this.version, entry.version);
    }
  }

  /** Call it when Postgres was restored. */
  noteRewind(): void {
    this.generation += 1;
    this.revision += 1;
  }

  /** Whether the catalog can answer clicks at all. */
  get isLoaded(): boolean {
    return this.secret !== "";
  }

  /** As {@link HostTable.workspaceIds}. */
  workspaceIdsOfHost(host: string): readonly number[] {
    return this.#hosts.workspaceIds(host);
  }

  /** Offers of any workspace with this code (case is ignored) or, if no offer has it and it is a number, with this id (G25). */
  offersByCode(code: string): readonly Offer[] {
    return recordsByCode(this.#offerIdsByCode, this.offers, code);
  }

  /** Codes of partners are unique within a workspace; many workspaces may use the same one. */
  affiliateByCode(workspaceId: number, code: string): Affiliate | undefined {
    return this.#partners.byCode(workspaceId, code);
  }

  smartLinksByCode(code: string): readonly SmartLink[] {
    return recordsByCode(this.#smartLinkIdsByCode, this.smartLinks, code);
  }

  /** Link keys are random, so case matters. */
  linkKeys(key: string): readonly LinkKey[] {
    return this.#linkKeyIds.all(key).flatMap((id) => this.#linkKeys.get(id) ?? []);
  }

  eventsOf(offerId: number): readonly OfferEvent[] {
    return this.#events.of(offerId);
  }

  eventOf(offerId: number, code: string): OfferEvent | undefined {
    return this.eventsOf(offerId).find((event) => event.code === code);
  }

  accessOf(offerId: number, affiliateId: number): AccessState | undefined {
    return this.#access.get(offerId, affiliateId);
  }

  /** All overrides of the pair; own-terms.ts decides which one applies to an event. */
  overridesOf(offerId: number, affiliateId: number): readonly PayoutOverride[] {
    return this.overrides.of(pairKey(offerId, affiliateId));
  }

  groupsOf(offerId: number): readonly OfferGroup[] {
    return this.#groupsOfOffer.get(offerId) ?? [];
  }

  /** Active rules in the order of evaluation. */
  rulesOf(workspaceId: number): readonly ConversionRule[] {
    if (this.#rules.size === 0) return [];
    let rules = this.#rulesOfWorkspace.get(workspaceId);
    if (rules === undefined) {
      rules = [...this.#rules.values()]
        .filter((rule) => rule.workspace_id === workspaceId && rule.status === "active")
        .sort((a, b) => a.position - b.position || a.id - b.id);
      this.#rulesOfWorkspace.set(workspaceId, rules);
    }
    return rules;
  }

  couponByCode(workspaceId: number, code: string): Coupon | undefined {
    return this.#coupons.byCode(workspaceId, code);
  }

  /** As {@link TokenTable.ownerOf}. */
  ownerOfToken(token: string, atMs: number): TokenOwner | undefined {
    return this.#tokens.ownerOf(token, atMs);
  }

  /** Whether a code or alias of a partner may contain the hyphen that separates the two codes of a link key. */
  get hasHyphenedPartners(): boolean {
    return this.#partners.hasHyphens || this.aliases.hasHyphenedPartner;
  }

  /**
   * Every record as an entry of `version`, the version at which the caller starts to read. Changes may be applied in the meantime. Then
   * some entries are newer than `version`, and applying the changes after `version` again gives the same catalog.
   */
  *entries(version: number): Generator<CatalogEntry> {
    const installation = this.isLoaded
      ? [{ id: 1, secret: this.secret, lanes: this.lanes.count }]
      : [];
    yield* entriesOf("installation", installation, version);
    yield* entriesOf("workspace", this.workspaces.values(), version);
    yield* entriesOf("advertiser", this.advertisers.values(), version);
    yield* entriesOf("offer", this.offers.values(), version);
    yield* entriesOf("offer_event", this.#events.all(), version);
    yield* entriesOf("affiliate", this.affiliates.values(), version);
    yield* entriesOf("offer_access", this.#access.all(), version);
    yield* entriesOf("payout_override", this.overrides.all(), version);
    yield* entriesOf("tracking_domain", this.#hosts.all(), version);
    yield* entriesOf("link_key", this.#linkKeys.values(), version);
    yield* entriesOf("smart_link", this.smartLinks.values(), version);
    yield* entriesOf("traffic_source_template", this.sourceTemplates.values(), version);
    yield* entriesOf("traffic_control", this.trafficControls.values(), version);
    for (const [id, entry] of this.blocklist) {
      yield* entriesOf("blocklist_entry", [{ id, entry }], version);
    }
    yield* entriesOf("workspace_blocklist_entry", this.workspaceBlocklist.values(), version);
    yield* entriesOf("offer_group", this.#groups.values(), version);
    yield* entriesOf("conversion_rule", this.#rules.values(), version);
    yield* entriesOf("coupon", this.#coupons.byId.values(), version);
    yield* entriesOf("code_alias", this.aliases.all(), version);
    yield* entriesOf("advertiser_old_token", this.#tokens.allOld(), version);
  }

  /** Forgets everything. */
  clear(): void {
    for (const { kind, id } of this.entries(0))
      this.#remove({ kind, id, version: 0, record: null });
    this.#hosts.forgetServed();
    this.secret = "";
    this.version = 0;
    this.revision += 1;
  }

  #addInstallation({ secret, lanes }: Installation): void {
    this.lanes = new Lanes(lanes);
    if (!this.isLoaded) this.routedLanes = this.lanes;
    this.secret = secret;
  }

  #add(entry: CatalogEntry): void {
    if (entry.record === null) return;
    switch (entry.kind) {
      case "installation":
        this.#addInstallation(entry.record);
        return;
      case "workspace":
        this.workspaces.set(entry.record.id, entry.record);
        this.#tokens.addWorkspace(entry.record);
        return;
      case "advertiser":
        this.advertisers.set(entry.record.id, entry.record);
        this.#tokens.addAdvertiser(entry.record);
        return;
      case "offer":
        this.#addOffer(entry.record);
        return;
      case "affiliate":
        this.#partners.add(entry.record);
        return;
      case "offer_event":
        this.#events.add(entry.record.offer_id, entry.record);
        return;
      case "payout_override": {
        const { offer_id, affiliate_id } = entry.record;
        this.overrides.add(pairKey(offer_id, affiliate_id), entry.record);
        return;
      }
      case "offer_access":
        this.#access.set(entry.record);
        return;
      case "tracking_domain":
        this.#hosts.add(entry.record);
        return;
      case "link_key":
        this.#addLinkKey(entry.record);
        return;
      case "smart_link":
        this.smartLinks.set(entry.record.id, entry.record);
        this.#smartLinkIdsByCode.add(foldCase(entry.record.code), entry.record.id);
        return;
      case "traffic_source_template":
        this.sourceTemplates.set(entry.record.id, entry.record);
        return;
      case "traffic_control":
        this.trafficControls.set(entry.record.id, entry.record);
        return;
      case "blocklist_entry":
        this.blocklist.set(entry.record.id, entry.record.entry);
        return;
      case "workspace_blocklist_entry":
        this.workspaceBlocklist.set(entry.record.id, entry.record);
        return;
      case "offer_group":
        this.#addGroup(entry.record);
        return;
      case "conversion_rule":
        this.#rules.set(entry.record.id, entry.record);
        return;
      case "coupon":
        this.#coupons.add(entry.record);
        return;
      case "code_alias":
        this.aliases.add(entry.record);
        return;
      case "advertiser_old_token":
        this.#tokens.addOld(entry.record);
        return;
    }
  }

  #remove(entry: CatalogEntry): void {
    const id = Number(entry.id);
    switch (entry.kind) {
      case "installation":
        return;
      case "workspace":
        this.#tokens.removeWorkspace(id);
        this.workspaces.delete(id);
        return;
      case "advertiser":
        this.#tokens.removeAdvertiser(id);
        this.advertisers.delete(id);
        return;
      case "offer":
        this.#offerIdsByCode.remove(foldCase(this.offers.get(id)?.code), id);
        this.offers.delete(id);
        return;
      case "affiliate":
        this.#partners.remove(id);
        return;
      case "offer_event":
        this.#events.remove(id);
        return;
      case "payout_override":
        this.overrides.remove(id);
        return;
      case "offer_access":
        this.#removeAccess(entry.id);
        return;
      case "tracking_domain":
        this.#hosts.remove(id);
        return;
      case "link_key":
        this.#linkKeyIds.remove(this.#linkKeys.get(id)?.key, id);
        this.#linkKeys.delete(id);
        return;
      case "smart_link":
        this.#smartLinkIdsByCode.remove(foldCase(this.smartLinks.get(id)?.code), id);
        this.smartLinks.delete(id);
        return;
      case "traffic_source_template":
        this.sourceTemplates.delete(id);
        return;
      case "traffic_control":
        this.trafficControls.delete(id);
        return;
      case "blocklist_entry":
        this.blocklist.delete(id);
        return;
      case "workspace_blocklist_entry":
        this.workspaceBlocklist.delete(id);
        return;
      case "offer_group":
        this.#removeGroup(id);
        return;
      case "conversion_rule":
        this.#rules.delete(id);
        this.#rulesOfWorkspace.clear();
        return;
      case "coupon":
        this.#coupons.remove(id);
        return;
      case "code_alias":
        this.aliases.remove(id);
        return;
      case "advertiser_old_token":
        this.#tokens.removeOld(id);
        return;
    }
  }

  #addOffer(offer: Offer): void {
    this.offers.set(offer.id, {
      ...offer,
      caps: this.#caps.of(offer.caps),
      targeting: this.#targeting.of(offer.targeting),
    });
    this.#offerIdsByCode.add(foldCase(offer.code), offer.id);
  }

  /** The id of an access record is "<offer id>-<affiliate id>": it has no number of its own. */
  #removeAccess(id: string): void {
    const [offerId = 0, affiliateId = 0] = id.split("-").map(Number);
    this.#access.delete(offerId, affiliateId);
  }

  #addLinkKey(linkKey: LinkKey): void {
    this.#linkKeys.set(linkKey.id, linkKey);
    this.#linkKeyIds.add(linkKey.key, linkKey.id);
  }

  #addGroup(group: OfferGroup): void {
    this.#groups.set(group.id, group);
    for (const offerId of new Set(group.offer_ids))
      this.#groupsOfOffer.set(offerId, [...this.groupsOf(offerId), group]);
  }

  #removeGroup(id: number): void {
    for (const offerId of this.#groups.get(id)?.offer_ids ?? []) {
      const rest = this.groupsOf(offerId).filter((group) => group.id !== id);
      if (rest.length > 0) this.#groupsOfOffer.set(offerId, rest);
      else this.#groupsOfOffer.delete(offerId);
    }
    this.#groups.delete(id);
  }
}

function pairKey(offerId: number, affiliateId: number): number {
  return offerId * AFFILIATES_MAX + affiliateId;
}
