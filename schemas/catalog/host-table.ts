import { CodeIndex } from "./code-index.ts";
import type { TrackingDomain, Workspace } from "./records.ts";

const HOSTS_REMEMBERED_MAX = 10_000;

/** Tracking domains by host. Whoever changes a domain or a workspace calls {@link forgetServed}. */
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
   * Workspaces that a host serves, the one that had it first in front; all of them, lowest id first, for a host that none has (G153,
   * G200). `host` is as `canonicalHost` writes it.
   */
  workspaceIds(host: string): readonly number[] {
    const known = this.#servedByHost.get(host);
    if (known !== undefined) return known;
    const served = this.#workspacesServedBy(host);
    // A visitor chooses the Host header: the memory of it is bounded.
    if (this.#servedByHost.size >= HOSTS_REMEMBERED_MAX) this.#servedByHost.clear();
    this.#servedByHost.set(host, served);
    return served;
  }

  #workspacesServedBy(host: string): readonly number[] {
    // A domain is never older than the one that it is shared from, so the order of ids is that of having the host.
    const listed = this.#domainIdsByHost.all(host).flatMap((id) => this.#domains.get(id) ?? []);
    const active = listed.filter(({ status }) => status === "active");
    // A host that is switched off is no stranger's: it serves those whose it is.
    const own = active.length > 0 ? active : listed;
    return own.length > 0 ? own.map(({ workspace_id }) => workspace_id) : this.#allWorkspaceIds();
  }

  /** One list for all unlisted hosts: a visitor may name any number of them. */
  #allWorkspaceIds(): readonly number[] {
    this.#workspaceIds ??= [...this.#workspaces.keys()].sort((a, b) => a - b);
    return this.#workspaceIds;
  }
}
