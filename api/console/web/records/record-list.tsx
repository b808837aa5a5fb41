import { type ReactElement, type ReactNode, useState } from "react";
import { type AddressChange, useAddress } from "../address/use-address.ts";
import { type LoadPage, type Query, useList } from "../client/lists.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { useMembership } from "../session/membership.ts";
import { givenFilters, type ListFilter, ListFilters } from "./list-filters.tsx";

const TABLE_HEIGHT = 480;

export type RecordListProps<Row> = {
  readonly title: string;
  /** Begins the key of its answers: see `useWrite`. */
  readonly name: string;
  readonly load: LoadPage<Row>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly filters?: readonly ListFilter[];
  /** Parameters beside the filters, such as a range. */
  readonly fixed?: Query;
  readonly onOpen?: (row: Row) => void;
  /** Reads again so often. */
  readonly everyMs?: number | undefined;
  readonly nothing: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  /** What can be done with the rows that were chosen. */
  readonly bulk?: (rows: readonly Row[], done: () => void) => ReactNode;
};

const NO_FILTERS: readonly ListFilter[] = [];

/** A list of the API: filters, rows, and more of them on demand. */
export function RecordList<Row>(props: RecordListProps<Row>): ReactElement {
  const { title, name, load, filters = NO_FILTERS, fixed = {}, actions } = props;
  const [search, change] = useAddress();
  const membership = useMembership();
  const given = givenFilters(search, filters);
  const list = useList(membership, {
    name,
    query: { ...fixed, ...given },
    load,
    everyMs: props.everyMs ?? false,
  });
  return (
    <section className="panel stack">
      <header className="row wrap">
        <h2 className="grow">{title}</h2>
        {actions}
      </header>
      {filters.length > 0 && <ListFilters filters={filters} search={search} onChange={change} />}
      {list.isError && <ProblemNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined && !list.isError && <Skeleton height={TABLE_HEIGHT} />}
      {list.data !== undefined && (
        <Pages {...props} list={list} given={Object.keys(given)} onChange={change} />
      )}
    </section>
  );
}

function Pages<Row>({
  list,
  given,
  onChange,
  ...props
}: RecordListProps<Row> & {
  readonly list: ReturnType<typeof useList<Row>>;
  readonly given: readonly string[];
  readonly onChange: (change: AddressChange) => void;
}): ReactElement {
  const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
  if (rows.length === 0) {
    return (
      <Nothing given={given} onChange={onChange}>
        {props.nothing}
      </Nothing>
    );
  }
  return (
    <>
      <Rows {...props} rows={rows} isUpdating={list.isPlaceholderData} />
      {list.hasNextPage && (
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
      )}
    </>
  );
}

function Rows<Row>({
  title,
  columns,
  keyOf,
  onOpen,
  bulk,
  rows,
  isUpdating,
}: RecordListProps<Row> & {
  readonly rows: readonly Row[];
  readonly isUpdating: boolean;
}): ReactElement {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const selected = rows.filter((row) => chosen.has(keyOf(row)));
  const toggle = (row: Row): void => {
    const next = new Set(chosen);
    if (!next.delete(keyOf(row))) next.add(keyOf(row));
    setChosen(next);
  };
  const isAll = selected.length === rows.length;
  const pick: Column<Row> = {
    name: "chosen",
    title: (
      <input
        type="checkbox"
        aria-label="All rows"
        checked={isAll}
        onChange={() => setChosen(new Set(isAll ? [] : rows.map(keyOf)))}
      />
    ),
    cell: (row) => (
      <input
        type="checkbox"
        aria-label={`Choose ${keyOf(row)}`}
        checked={chosen.has(keyOf(row))}
        onChange={() => toggle(row)}
      />
    ),
  };
  return (
    <>
      {bulk !== undefined && selected.length > 0 && (
        <div className="row wrap notice" role="status">
          <strong>{selected.length} chosen</strong>
          {bulk(selected, () => setChosen(new Set()))}
        </div>
      )}
      <DataTable
        caption={title}
        columns={bulk === undefined ? columns : [pick, ...columns]}
        rows={rows}
        keyOf={keyOf}
        onOpen={onOpen}
        isUpdating={isUpdating}
      />
    </>
  );
}

function Nothing({
  given,
  onChange,
  children,
}: {
  readonly given: readonly string[];
  readonly onChange: (change: AddressChange) => void;
  readonly children: ReactNode;
}): ReactElement {
  if (given.length === 0) return <div className="stack tight">{children}</div>;
  return (
    <div className="stack tight">
      <strong>Nothing for these filters</strong>
      <div className="row">
        <button
          type="button"
          className="button"
          onClick={() => onChange(Object.fromEntries(given.map((name) => [name, undefined])))}
        >
          Remove the filters
        </button>
      </div>
    </div>
  );
}
