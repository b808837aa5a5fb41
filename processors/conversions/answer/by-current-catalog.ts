import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { CatalogFeed } from "../../../schemas/catalog-feed/follow.ts";

/**
 * Returns the answer of `handle` from a catalog with every change committed before the call. A change reaches every process
 * within one second. Until then this process may miss an offer, a partner or a token that its owner already uses. So before it sends a
 * refusal, it refreshes the catalog and calls `handle` again; a refused call has changed nothing.
 * Undefined if the catalog cannot be refreshed: Postgres does not answer, or has records that this release cannot read (P15).
 */
export async function byCurrentCatalog<T>(
  { catalog, catalogFeed }: { readonly catalog: Catalog; readonly catalogFeed: CatalogFeed },
  {
    handle,
    isRefusal,
  }: { readonly handle: () => Promise<T>; readonly isRefusal: (answer: T) => boolean },
): Promise<T | undefined> {
  const { revision } = catalog;
  const answer = await handle();
  if (!isRefusal(answer)) return answer;
  if (!(await catalogFeed.refresh())) return undefined;
  const current = catalog.revision === revision ? answer : await handle();
  return isRefusal(current) && catalogFeed.mayRefuseWrongly ? undefined : current;
}
