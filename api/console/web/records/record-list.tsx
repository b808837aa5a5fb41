import {
  type Dispatch,
  type ReactElement,
  type ReactNode,
  type SetStateAction,
  useState,
} from "react";
import { type AddressChange, useAddress } from "../address/use-address.ts";
import { type LoadPage, type Query, useList } from "../client/lists.ts";
import { formatCount } from "../format/figure.ts";
import { useMembership } from "../member/membership.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { useWaiting } from "../parts/decision-notices.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { ViewMenu } from "../views/view-menu.tsx";
import { kindIn } from "./bulk.ts";
import { ChooseAll, choiceColumn } from "./choose-rows.tsx";
import { ColumnMenu } from "./column-menu.tsx";
import { givenFilters, type ListFilter, ListFilters } from "./list-filters.tsx";
import { givenSort, nextSort, SORT, sortingOf } from "./list-sorting.ts";
import { MoreButton } from "./more-button.tsx";
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
  /** The order that the list has of itself. Others are those of its columns with `sort`. */
  readonly order?: string;
  readonly onOpen?: (row: Row) => void;
  /** Reads again so often. */
  readonly everyMs?: number | undefined;
  readonly nothing: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  /** What can be done with the rows that were chosen. */
  readonly bulk?: (rows: readonly Row[], chosen: ChosenRows) => ReactNode;
  /** The kind of decisions about these rows. A row that waits for one is not in a list of its old status. */
  readonly decided?: string;
};

/** What happens to the choice of rows that somebody has decided about. */
export type ChosenRows = {
  /** They are sent, or wait for it. */
  readonly onDecided: () => void;
  /** They stay as they were, and are chosen again unless others are. */
  readonly onBack: (keys: readonly string[]) => void;
};

const NO_FILTERS: readonly ListFilter[] = [];
const NEWEST = "-created_at";

/** A list of the API: filters, rows, and more rows on demand. */
export function RecordList<Row>(props: RecordListProps<Row>): ReactElement {
  const { name, load, columns, filters = NO_FILTERS, fixed } = props;
  const [search, change] = useAddress();
  const membership = useMembership();
  const given = givenFilters(search, filters);
  const onAddress = filters.length > 0 ? change : undefined;
  const { query, ...sorted } = sortedIn(props, search, onAddress);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const list = useList(membership, {
    name,
    query: { ...fixed, ...given, ...query },
    load,
    everyMs: props.everyMs ?? false,
  });
  const { shown, choice, saved } = useColumns({ name, columns, search, onAddress });
  return (
    <section className="panel stack">
      <Head {...props} filters={filters} search={search} onChange={change}>
        <ColumnMenu choice={choice} />
        {onAddress !== undefined && <ViewMenu shown={saved} />}
      </Head>
      {list.isError && <ProblemNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined && !list.isError && <Skeleton height={TABLE_HEIGHT} />}
      {list.data !== undefined && (
        <Pages
          {...props}
          {...sorted}
          columns={onAddress === undefined ? shown : shown.map(sortable)}
          list={list}
          given={Object.keys(given)}
          onChange={change}
          chosen={chosen}
          setChosen={setChosen}
        />
      )}
    </section>
  );
}

/** The order of a list, as the API is asked for it. A list without an address of its own has only its own order. */
function sortedIn<Row>(
  { columns, order = NEWEST }: RecordListProps<Row>,
  search: URLSearchParams,
  onAddress: ((change: AddressChange) => void) | undefined,
): SortedRows<Row> & { readonly query: Query } {
  const asked = onAddress === undefined ? undefined : givenSort(search, columns);
  const sort = asked ?? order;
  return {
    sort,
    query: asked === undefined ? {} : { [SORT]: asked },
    onSort: (column) => onAddress?.({ [SORT]: nextSort(column, sort, order) }),
  };
}

function sortable<Row>(column: Column<Row>): Column<Row> {
  return column.sort === undefined ? column : { ...column, isSortable: true };
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
          <div className={filters.length > 0 ? "grow list-head" : "grow"}>{shownFilters}</div>
        )}
        <div className="row wrap">
          {children}
          {actions}
        </div>
      </header>
      {isTitled && shownFilters}
    </>
  );
}

type SortedRows<Row> = {
  readonly sort: string;
  readonly onSort: (column: Column<Row>) => void;
};

function Pages<Row>({
  list,
  given,
  onChange,
  ...props
}: RecordListProps<Row> & {
  readonly chosen: ReadonlySet<string>;
  readonly setChosen: Dispatch<SetStateAction<ReadonlySet<string>>>;
  readonly list: ReturnType<typeof useList<Row>>;
  readonly given: readonly string[];
  readonly onChange: (change: AddressChange) => void;
} & SortedRows<Row>): ReactElement {
  const waiting = useWaiting(kindIn(useMembership().membershipId, props.decided ?? ""));
  const isOfStatus = given.includes("status") || props.fixed?.["status"] !== undefined;
  const all = list.data?.pages.flatMap((page) => page.data) ?? [];
  const rows = isOfStatus ? all.filter((row) => !waiting.has(props.keyOf(row))) : all;
  if (rows.length === 0) {
    return (
      <Nothing given={given} onChange={onChange}>
        {props.nothing}
      </Nothing>
    );
  }
  return (
    <>
      <Rows {...props} rows={rows} list={list} isUpdating={list.isPlaceholderData} />
      <MoreButton list={list} />
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
  chosen,
  setChosen,
  sort,
  onSort,
}: RecordListProps<Row> & {
  readonly rows: readonly Row[];
  readonly list: ReturnType<typeof useList<Row>>;
  readonly isUpdating: boolean;
  readonly chosen: ReadonlySet<string>;
  readonly setChosen: Dispatch<SetStateAction<ReadonlySet<string>>>;
} & SortedRows<Row>): ReactElement {
  const selected = rows.filter((row) => chosen.has(keyOf(row)));
  const isAll = selected.length === rows.length;
  const chooseAll = (all: readonly Row[]): void => setChosen(new Set(all.map(keyOf)));
  const onDecided = (): void => setChosen(new Set());
  const onBack = (keys: readonly string[]): void =>
    setChosen((before) => (before.size === 0 ? new Set(keys) : before));
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
          {bulk(selected, { onDecided, onBack })}
        </div>
      )}
      <DataTable
        caption={title}
        columns={bulk === undefined ? columns : [pick, ...columns]}
        rows={rows}
        keyOf={keyOf}
        sorting={sortingOf(sort, columns)}
        onSort={(name) => {
          const column = columns.find((one) => one.name === name);
          if (column !== undefined) onSort(column);
        }}
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
