import type { Catalog } from "../../schemas/catalog/catalog.ts";

const LINKS_REMEMBERED_MAX = 50_000;
const DOMAINS_REMEMBERED_MAX = 200;

/**
 * Remembers what links led to, by host and path as sent, for one revision of the catalog. A look-up by codes costs 1 µs, and most
 * clicks are on links that were clicked a moment ago. Unknown links are not remembered, because anybody can invent them.
 */
export class LinkMemory<Link extends object> {
  #revision = -1;
  #size = 0;
  readonly #byDomain = new Map<string, Map<string, Link>>();

  find(
    catalog: Catalog,
    domain: string,
    path: string,
    look: () => Link | undefined,
  ): Link | undefined {
    if (catalog.revision !== this.#revision) this.#forget(catalog.revision);
    const known = this.#byDomain.get(domain)?.get(path);
    if (known !== undefined) return known;
    const link = look();
    if (link !== undefined) this.#remember(domain, path, link);
    return link;
  }

  #remember(domain: string, path: string, link: Link): void {
    if (this.#size >= LINKS_REMEMBERED_MAX) this.#forget(this.#revision);
    let links = this.#byDomain.get(domain);
    if (links === undefined) {
      if (this.#byDomain.size >= DOMAINS_REMEMBERED_MAX) this.#forget(this.#revision);
      links = new Map();
      this.#byDomain.set(domain, links);
    }
    links.set(path, link);
    this.#size += 1;
  }

  #forget(revision: number): void {
    this.#byDomain.clear();
    this.#size = 0;
    this.#revision = revision;
  }
}
