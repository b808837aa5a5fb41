import type { ReactElement } from "react";
import { Link } from "wouter";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress, type Query } from "../../client/lists.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { useMembership } from "../../member/membership.ts";
import { RangeBar } from "../../range/range-bar.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { rangeQuery } from "../../records/record-range.ts";
import type { Conversion } from "./conversion.ts";
import { ConversionDrawer } from "./conversion-drawer.tsx";
import { columnsFor } from "./conversions.tsx";

/** Conversions of one partner or offer. They are decided on the screen of all conversions. */
export function ConversionsOf({
  of,
}: {
  /** The filter that leaves only these conversions. */
  readonly of: Query;
}): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const { amounts } = useRoleFigures();
  const [search, change] = useAddress();
  const open = search.get("open");
  const all = new URLSearchParams({ ...rangeQuery(search), ...of });
  return (
    <>
      <RangeBar />
      <RecordList<Conversion>
        title="Conversions"
        name="conversions"
        fixed={{ ...rangeQuery(search), ...of }}
        load={async (query, signal) =>
          await read(api.GET("/conversions", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columnsFor(membership, amounts)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => change({ open: id })}
        nothing={<strong>No conversions in this range</strong>}
        actions={
          <Link className="button" href={`${base}/conversions?${all.toString()}`}>
            Decide and export
          </Link>
        }
      />
      {open !== null && <ConversionDrawer id={open} onClose={() => change({ open: undefined })} />}
    </>
  );
}
