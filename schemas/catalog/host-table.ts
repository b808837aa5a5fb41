import { CodeIndex } from "./code-index.ts";
import type { TrackingDomain, Workspace } from "./records.ts";

const HOSTS_REMEMBERED_MAX = 10_000;

/** Tracking domains by host. Call {@link forgetServed} after a change of a domain or a workspace. */
export class HostTable {
  readonly #workspaces: ReadonlyMap<number, Workspace>;
  readonly #domains = new Map<number, TrackingDomain>();
  readonly #domainIdsByHost = new CodeIndex();
  readonly #servedByHost = new Map<string, readonly number[]>();
  #workspaceIds: readonly number[] | undefined;

  constructor(workspaces: ReadonlyMap<number, Workspace>) {
    this.#workspaces = workspaces;
  }

  all(): Iterable<TrackingDomain> {
    return this.#domains.values();
  }

  add(domain: TrackingDomain): void {
    this.#domains.set(domain.id, domain);
    this.#domainIdsByHost.add(domain.host.toLowerCase(), domain.id);
  }

  remove(id: number): void {
    this.#domainIdsByHost.remove(this.#domains.get(id)?.host.toLowerCase(), id);
    this.#domains.delete(id);
  }

  forgetServed(): void {
    this.#servedByHost.clear();
    this.#workspaceIds = undefined;
  }

  /**
   * Workspaces that a host serves, its first owner first. For a host without an owner, all workspaces, lowest id first (G153, G200).
   * `host` is the result of `canonicalHost`.
   */
  workspaceIds(host: string): readonly number[] {
    const known = this.#servedByHost.get(host);
    if (known !== undefined) return known;
    const served = this.#workspacesServedBy(host);
    // Visitors choose the Host header, so this cache is bounded.
    if (this.#servedByHost.size >= HOSTS_REMEMBERED_MAX) this.#servedByHost.clear();
    this.#servedByHost.set(host, served);
    return served;
  }

  #workspacesServedBy(host: string): readonly number[] {
    // A shared domain is never older than the original, so the order of ids is the order of ownership.
    const listed = this.#domainIdsByHost.all(host).flatMap((id) => this.#domains.get(id) ?? []);
    const active = listed.filter(({ status }) => status === "active");
    // A host whose domains are all inactive still serves only its owners.
    const serving = active.length > 0 ? active : listed;
    return serving.length > 0
      ? serving.map(({ workspace_id }) => workspace_id)
      : this.#allWorkspaceIds();
  }

  /** One list for all unknown hosts, because visitors may send any number of them. */
  #allWorkspaceIds(): readonly number[] {
    this.#workspaceIds ??= [...this.#workspaces.keys()].sort((a, b) => a - b);
    return this.#workspaceIds;
  }
}
