import { CodeIndex } from "./code-index.ts";
import type { Advertiser, AdvertiserOldToken, Workspace } from "./records.ts";

/** Who may use a `token`. */
export type TokenOwner =
  | { readonly kind: "workspace"; readonly workspace: Workspace }
  | { readonly kind: "advertiser"; readonly workspace: Workspace; readonly advertiser: Advertiser };

/** Workspaces and advertisers by their tokens, including replaced tokens that are still good. */
export class TokenTable {
  readonly #workspaces: ReadonlyMap<number, Workspace>;
  readonly #advertisers: ReadonlyMap<number, Advertiser>;
  readonly #old = new Map<number, AdvertiserOldToken>();
  readonly #workspaceIds = new CodeIndex();
  readonly #advertiserIds = new CodeIndex();
  readonly #oldIds = new CodeIndex();

  constructor(
    workspaces: ReadonlyMap<number, Workspace>,
    advertisers: ReadonlyMap<number, Advertiser>,
  ) {
    this.#workspaces = workspaces;
    this.#advertisers = advertisers;
  }

  /** Undefined for an unknown token and for one that several owners share (AUTH-022). `atMs`: when the token was sent. */
  ownerOf(token: string, atMs: number): TokenOwner | undefined {
    if (token === "") return undefined;
    const workspaceIds = this.#workspaceIds.all(token);
    const advertiserIds = this.#advertiserIdsOf(token, atMs);
    if (workspaceIds.length + advertiserIds.length !== 1) return undefined;
    const advertiser = this.#advertisers.get(advertiserIds[0] ?? 0);
    const workspace = this.#workspaces.get(advertiser?.workspace_id ?? workspaceIds[0] ?? 0);
    if (workspace === undefined) return undefined;
    return advertiser === undefined
      ? { kind: "workspace", workspace }
      : { kind: "advertiser", workspace, advertiser };
  }

  allOld(): Iterable<AdvertiserOldToken> {
    return this.#old.values();
  }

  addWorkspace({ id, postback_token }: Workspace): void {
    this.#workspaceIds.add(postback_token, id);
  }

  /** Call it while the workspace is still in the map. */
  removeWorkspace(id: number): void {
    this.#workspaceIds.remove(this.#workspaces.get(id)?.postback_token, id);
  }

  addAdvertiser({ id, postback_token }: Advertiser): void {
    this.#advertiserIds.add(postback_token, id);
  }

  /** Call it while the advertiser is still in the map. */
  removeAdvertiser(id: number): void {
    this.#advertiserIds.remove(this.#advertisers.get(id)?.postback_token, id);
  }

  addOld(old: AdvertiserOldToken): void {
    this.#old.set(old.id, old);
    this.#oldIds.add(old.token, old.id);
  }

  removeOld(id: number): void {
    this.#oldIds.remove(this.#old.get(id)?.token, id);
    this.#old.delete(id);
  }

  #advertiserIdsOf(token: string, atMs: number): readonly number[] {
    const current = this.#advertiserIds.all(token);
    if (this.#old.size === 0) return current;
    const old = this.#oldIds.all(token).flatMap((id) => this.#old.get(id) ?? []);
    const good = old.filter(({ good_until_ms }) => atMs < good_until_ms);
    return [...new Set([...current, ...good.map(({ advertiser_id }) => advertiser_id)])];
  }
}
