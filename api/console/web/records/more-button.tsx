import type { ReactElement } from "react";
import type { useList } from "../client/lists.ts";

/** Asks for the next page of a list; nothing once all its pages are there. */
export function MoreButton({
  list,
}: {
  readonly list: Pick<
    ReturnType<typeof useList<unknown>>,
    "hasNextPage" | "isFetchingNextPage" | "fetchNextPage"
  >;
}): ReactElement | null {
  if (!list.hasNextPage) return null;
  return (
    <div className="row">
      <button
        type="button"
        className="button"
        disabled={list.isFetchingNextPage}
        onClick={() => void list.fetchNextPage()}
      >
        {list.isFetchingNextPage ? "Loading" : "Show more"}
      </button>
    </div>
  );
}
