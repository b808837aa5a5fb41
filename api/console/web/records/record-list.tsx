import { type ReactElement, type ReactNode, useState } from "react";
import { type AddressChange, useAddress } from "../address/use-address.ts";
import { type LoadPage, type Query, useList } from "../client/lists.ts";
import { formatCount } from "../format/figure.ts";
import { useMembership } from "../member/membership.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { ViewMenu } from "../views/view-menu.tsx";
import type { BulkReport } from "./bulk.ts";
import { BulkOutcome } from "./bulk-parts.tsx";
import { ChooseAll, choiceColumn } from "./choose-rows.tsx";
import { ColumnMenu } from "./column-menu.tsx";
import { givenFilters, type ListFilter, ListFilters } from "./list-filters.tsx";
import { useColumns } from "./use-columns.ts";

const TABLE_HEIGHT = 480;

export type RecordListProps<Row> = {
  readonly title: string;
  /** False where the heading of the screen has said the title. */
  readonly isTitled?: boolean;
  /** Begins the key of its answers: see `useWrite`. Its columns are kept by it, too. */
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
  readonly bulk?: (rows: readonly Row[], done: (report?: BulkReport) => void) => ReactNode;
};

const NO_FILTERS: readonly ListFilter[] = [];

/** A list of the API: filters, rows, and more rows on demand. */
export function RecordList<Row>(props: RecordListProps<Row>): ReactElement {
  const { name, load, filters = NO_FILTERS, fixed } = props;
  const [search, change] = useAddress();
  const membership = useMembership();
  const given = givenFilters(search, filters);
  const [report, setReport] = useState<BulkReport>();
  const list = useList(membership, {
    name,
    query: { ...fixed, ...given },
    load,
    everyMs: props.everyMs ?? false,
  });
  const onAddress = filters.length > 0 ? change : undefined;
  const { columns } = props;
  const { shown, choice, saved } = useColumns({ name, columns, search, onAddress });
  return (
    <section className="panel stack">
      <Head {...props} filters={filters} search={search} onChange={change}>
        <ColumnMenu choice={choice} />
        {onAddress !== undefined && <ViewMenu shown={saved} />}
      </Head>
      {report !== undefined && <BulkOutcome report={report} onClose={() => setReport(undefined)} />}
      {list.isError && <ProblemNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined && !list.isError && <Skeleton height={TABLE_HEIGHT} />}
      {list.data !== undefined && (
        <Pages
          {...props}
          columns={shown}
          list={list}
          given={Object.keys(given)}
          onChange={change}
          onReport={setReport}
        />
      )}
    </section>
  );
}

/** The title and the buttons above the filters. Without a title, the filters stand in its place. */
function Head<Row>({
  title,
  isTitled = true,
  actions,
  filters,
  search,
  onChange,
  children,
}: Pick<RecordListProps<Row>, "title" | "isTitled" | "actions"> & {
  readonly filters: readonly ListFilter[];
  readonly search: URLSearchParams;
  readonly onChange: (change: AddressChange) => void;
  readonly children: ReactNode;
}): ReactElement {
  const shownFilters = filters.length > 0 && (
    <ListFilters filters={filters} search={search} onChange={onChange} />
  );
  return (
    <>
      <header className="row wrap">
        {isTitled ? (
          <h2 className="grow">{title}</h2>
        ) : (
          <div className="grow list-head">{shownFilters}</div>
        )}
        {children}
        {actions}
      </header>
      {isTitled && shownFilters}
    </>
  );
}

function Pages<Row>({
  list,
  given,
  onChange,
  onReport,
  ...props
}: RecordListProps<Row> & {
  readonly onReport: (report: BulkReport | undefined) => void;
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
      <Rows
        {...props}
        rows={rows}
        list={list}
        isUpdating={list.isPlaceholderData}
        onReport={onReport}
      />
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
  list,
  isUpdating,
  onReport,
}: RecordListProps<Row> & {
  readonly rows: readonly Row[];
  readonly list: ReturnType<typeof useList<Row>>;
  readonly isUpdating: boolean;
  readonly onReport: (report: BulkReport | undefined) => void;
}): ReactElement {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const selected = rows.filter((row) => chosen.has(keyOf(row)));
  const isAll = selected.length === rows.length;
  const chooseAll = (all: readonly Row[]): void => setChosen(new Set(all.map(keyOf)));
  const done = (report?: BulkReport): void => {
    onReport(report);
    setChosen(new Set());
  };
  const pick = choiceColumn({
    chosen,
    keyOf,
    isAll,
    setChosen,
    onAll: () => chooseAll(isAll ? [] : rows),
  });
  return (
    <>
      {bulk !== undefined && selected.length > 0 && (
        <div className="row wrap notice chosen" role="group" aria-label="Chosen rows">
          <strong role="status">{formatCount(selected.length)} chosen</strong>
          {isAll && list.hasNextPage && <ChooseAll list={list} onAll={chooseAll} />}
          {bulk(selected, done)}
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
