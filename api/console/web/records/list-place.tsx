import { type ReactElement, type ReactNode, useEffect } from "react";
import { Redirect } from "wouter";
import { useSearch } from "../address/use-search.ts";
import { useMembership } from "../member/membership.ts";
import { savedQuery } from "../views/own-query.ts";

const searches = new Map<string, string>();

/** The address of a list with the filters that it had when it was last shown in this tab of the browser. */
export function listAddress(list: string): string {
  const search = searches.get(list) ?? "";
  return search === "" ? list : `${list}?${search}`;
}

/**
 * A list whose records have pages. It keeps its filters for the way back. Addresses that name a record with `open=` or a new one with
 * `new=1`, such as bookmarks and commands, lead to its page.
 */
export function ListPlace({
  path,
  children,
}: {
  /** Below the address of the membership, such as `/offers`. */
  readonly path: string;
  readonly children: ReactNode;
}): ReactElement {
  const { base } = useMembership();
  const text = useSearch();
  const list = base + path;
  useEffect(() => {
    searches.set(list, savedQuery(text));
  }, [list, text]);
  const search = new URLSearchParams(text);
  const open = search.get("open");
  if (open !== null) return <Redirect to={`${list}/${encodeURIComponent(open)}`} replace />;
  if (search.get("new") === "1") return <Redirect to={`${list}/new`} replace />;
  return <>{children}</>;
}
