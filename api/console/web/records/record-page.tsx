import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactElement, ReactNode } from "react";
import { Link, useParams } from "wouter";
import { Problem } from "../client/problem.ts";
import { useMembership } from "../member/membership.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { ScreenBoundary } from "../parts/screen-boundary.tsx";
import { useScreenName } from "../parts/screen-name.ts";
import { LinkedTabs, type Tab } from "../parts/section-tabs.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { UnsavedPage } from "../parts/unsaved-page.tsx";
import { listAddress } from "./list-place.tsx";
import { Unfinished } from "./unfinished.tsx";

const HEIGHT = 480;

export type RecordTab = Tab & { readonly content: ReactElement };

type PageProps<Row> = {
  /** The list of such records: its address below the membership's, and its title. */
  readonly list: { readonly path: string; readonly title: string };
  readonly noun: string;
  readonly record: UseQueryResult<Row>;
  /** Below the name: code, state, ID. */
  readonly head: (row: Row) => ReactNode;
  /** The first one has the address of the record itself. Tabs that the role may not see are left out. */
  readonly tabs: (row: Row) => readonly RecordTab[];
};

/** The ID of the record that the address names. 0, which no record has, for anything else. */
export function useRecordId(): number {
  const { id = "" } = useParams<{ readonly id?: string }>();
  return /^\d{1,9}$/.test(id) ? Number(id) : 0;
}

type PagedRow = { readonly id: number; readonly name: string };

/** One record: what it is at the top, and its parts as tabs, each with an address. */
export function RecordPage<Row extends PagedRow>(props: PageProps<Row>): ReactElement {
  const { list, noun, record } = props;
  const { base } = useMembership();
  const { data: row, error } = record;
  useScreenName(isGone(error) ? "Page not found" : titleOf(row, noun));
  if (isGone(error)) return <Gone list={list} />;
  return (
    <UnsavedPage>
      <div className="stack tight">
        <nav className="crumbs" aria-label="Back">
          <Link href={listAddress(base + list.path)}>{list.title}</Link>
        </nav>
        <h1 className="break">
          <StrangerText text={titleOf(row, noun)} />
        </h1>
        {row !== undefined && <div className="row wrap record-head">{props.head(row)}</div>}
      </div>
      {error !== null && <ProblemNotice error={error} onRetry={() => void record.refetch()} />}
      {row === undefined && error === null && <Skeleton height={HEIGHT} />}
      {row !== undefined && <Tabs {...props} row={row} />}
    </UnsavedPage>
  );
}

/** The address names no record, or one that this person may not see. */
function isGone(error: Error | null): boolean {
  return error instanceof Problem && (error.status === 404 || error.status === 400);
}

function titleOf(row: PagedRow | undefined, noun: string): string {
  return row === undefined || row.name === "" ? noun : row.name;
}

function Tabs<Row extends { readonly id: number }>({
  list,
  noun,
  row,
  tabs: tabsOf,
}: PageProps<Row> & { readonly row: Row }): ReactElement {
  const { base } = useMembership();
  const { tab } = useParams<{ readonly tab?: string }>();
  const path = `${base}${list.path}/${row.id}`;
  const tabs = tabsOf(row);
  const current = tab === undefined ? tabs[0] : tabs.find(({ name }) => name === tab);
  return (
    <>
      <Unfinished path={path} />
      {(tabs.length > 1 || current === undefined) && (
        <LinkedTabs
          label={`Parts of the ${noun.toLowerCase()}`}
          current={current?.name ?? ""}
          tabs={tabs.map((one, at) => ({ ...one, href: at === 0 ? path : `${path}/${one.name}` }))}
        />
      )}
      {current === undefined ? (
        <p className="muted">
          This part is not there, or you don't have access. Choose another one above.
        </p>
      ) : (
        <ScreenBoundary key={current.name}>{current.content}</ScreenBoundary>
      )}
    </>
  );
}

function Gone({ list: { path, title } }: Pick<PageProps<never>, "list">): ReactElement {
  const { base } = useMembership();
  return (
    <section className="panel stack">
      <h1>Page not found, or you don't have access</h1>
      <p>It was deleted, or belongs to another workspace.</p>
      <div className="row">
        <Link className="button" href={listAddress(base + path)}>
          {title}
        </Link>
      </div>
    </section>
  );
}
