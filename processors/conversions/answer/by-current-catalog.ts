import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { CatalogFeed } from "../../../schemas/catalog-feed/follow.ts";

/**
 * Returns the answer of `handle` by a catalog that has every change committed before the call. A change is in force everywhere within
 * a second; until then an offer, a partner or a token may be missing here although its owner already knows it. So no refusal is sent
 * before the catalog has been refreshed: a refused call has changed nothing, and is handled once more.
 * Undefined when nobody can tell: Postgres does not answer, or has records that this release cannot read (P15).
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
