import { CodeIndex, codeKey, foldCase } from "./code-index.ts";
import type { Affiliate, CodeAlias, Offer, SmartLink } from "./records.ts";

type Targets = {
  readonly offers: ReadonlyMap<number, Offer>;
  readonly affiliates: ReadonlyMap<number, Affiliate>;
  readonly smartLinks: ReadonlyMap<number, SmartLink>;
};

/**
 * Records by the codes that they had in an earlier system (N112). Case is ignored. Ask it only when neither a code nor an id is found.
 */
export class AliasTable {
  readonly #targets: Targets;
  readonly #aliases = new Map<number, CodeAlias>();
  readonly #offerIds = new CodeIndex();
  readonly #affiliateIds = new CodeIndex();
  readonly #smartLinkIds = new CodeIndex();
  #hyphened = 0;

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  get isEmpty(): boolean {
    return this.#aliases.size === 0;
  }

  /** Whether a partner has an alias with a hyphen, which also separates the two codes of a link key. */
  get hasHyphenedPartner(): boolean {
    return this.#hyphened > 0;
  }

  /** Of any workspace. */
  offers(alias: string): readonly Offer[] {
    return this.#named(this.#offerIds.all(foldCase(alias)), this.#targets.offers);
  }

  affiliate(workspaceId: number, alias: string): Affiliate | undefined {
    const ids = this.#affiliateIds.all(codeKey(workspaceId, alias));
    return this.#named(ids, this.#targets.affiliates)[0];
  }

  /** Of any workspace. */
  smartLinks(alias: string): readonly SmartLink[] {
    return this.#named(this.#smartLinkIds.all(foldCase(alias)), this.#targets.smartLinks);
  }

  all(): Iterable<CodeAlias> {
    return this.#aliases.values();
  }

  add(record: CodeAlias): void {
    this.#aliases.set(record.id, record);
    const { index, key } = this.#placeOf(record);
    index.add(key, record.id);
    if (isHyphenedPartner(record)) this.#hyphened += 1;
  }

  remove(id: number): void {
    const record = this.#aliases.get(id);
    if (record === undefined) return;
    const { index, key } = this.#placeOf(record);
    index.remove(key, id);
    if (isHyphenedPartner(record)) this.#hyphened -= 1;
    this.#aliases.delete(id);
  }

  /** Many workspaces may use the same alias of a partner, so its key has the workspace, as for codes. */
  #placeOf({ kind, alias, workspace_id }: CodeAlias): { index: CodeIndex; key: string } {
    switch (kind) {
      case "offer":
        return { index: this.#offerIds, key: foldCase(alias) };
      case "affiliate":
        return { index: this.#affiliateIds, key: codeKey(workspace_id, alias) };
      case "smart_link":
        return { index: this.#smartLinkIds, key: foldCase(alias) };
    }
  }

  /** An alias names a record of its own workspace only. */
  #named<T extends { readonly workspace_id: number }>(
    ids: readonly number[],
    records: ReadonlyMap<number, T>,
  ): readonly T[] {
    return ids.flatMap((id) => {
      const alias = this.#aliases.get(id);
      const record = records.get(alias?.target_id ?? 0);
      return record !== undefined && record.workspace_id === alias?.workspace_id ? [record] : [];
    });
  }
}

function isHyphenedPartner({ kind, alias }: CodeAlias): boolean {
  return kind === "affiliate" && alias.includes("-");
}
