import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { Link } from "wouter";
import { Gathered } from "../../client/gathered.ts";
import { Problem } from "../../client/problem.ts";
import { type Reader, readReport } from "../../client/reports.ts";
import { formatCount, NOT_DEFINED } from "../../format/figure.ts";
import { formatMoney, formatSum } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import {
  COUNTS,
  type FigureName,
  figuresIn,
  MONEY,
  type RowFigures,
  shownAmounts,
} from "./row-figures.ts";

type Entity = "offer" | "affiliate" | "advertiser";
type Row = { readonly id: number; readonly name: string; readonly currency?: string };

const TITLES: Readonly<Record<FigureName, string>> = {
  clicks: "Clicks",
  conversions: "Conversions",
  payout: "Payout",
  revenue: "Revenue",
  profit: "Profit",
};
/** A page of a list has 100 rows, and most records have one currency. */
const IDS_MAX = 200;
const ROWS_MAX = 10_000;
const FRESH_MS = 60_000;
/** While reports are away, the figures are asked for again after this time. */
const AGAIN_MS = 30_000;

/** Columns of a list with the figures of each record in the last 30 days. Those of `shown` are there without being chosen. */
export function figureColumns<One extends Row>(
  entity: Entity,
  shown: readonly FigureName[],
): readonly Column<One>[] {
  return [...COUNTS, ...MONEY].map((name) => ({
    name: `${name}_30`,
    title: `${TITLES[name]}, 30 days`,
    isNumber: true,
    isOptional: !shown.includes(name),
    isEarly: MONEY.some((one) => one === name),
    cell: (row) => <FigureCell entity={entity} row={row} name={name} />,
  }));
}

function FigureCell({
  entity,
  row,
  name,
}: {
  readonly entity: Entity;
  readonly row: Row;
  readonly name: FigureName;
}): ReactElement {
  const { base, currency: home } = useMembership();
  const { data, error } = useFigures(entity, row.id);
  if (data === undefined)
    return error === null ? <span className="muted">…</span> : <NoFigure error={error} />;
  const amounts = amountsOf(data, name, row.currency ?? home);
  const [first, ...others] = amounts;
  const params = new URLSearchParams({
    preset: "last30",
    group_by: "date",
    sort: "date",
    filters: `${entity}:in:${row.id}`,
    ...(first === undefined || others.length > 0 ? {} : { currency: first.currency }),
  });
  const shown =
    name === "clicks" || name === "conversions"
      ? formatCount(data.counts[name])
      : amounts.map(({ text, currency }) => formatSum(text, currency)).join(" + ");
  const exact = amounts.map(({ text, currency }) => formatMoney(text, currency)).join(" + ");
  return (
    <Link
      className="cell-link"
      href={`${base}/reports?${params.toString()}`}
      title={`${TITLES[name]} of ${row.name} in the last 30 days${exact === "" ? "" : `: ${exact}`}`}
    >
      {shown}
    </Link>
  );
}

function amountsOf(
  { money }: RowFigures,
  name: FigureName,
  own: string,
): ReturnType<typeof shownAmounts> {
  return name === "clicks" || name === "conversions" ? [] : shownAmounts(money[name], own);
}

function NoFigure({ error }: { readonly error: Error }): ReactElement {
  const why =
    error instanceof Problem && error.status === 403
      ? "Your role does not include reports"
      : "Reports are unavailable; we're retrying";
  return (
    <span className="muted" title={why}>
      <span aria-hidden>{NOT_DEFINED}</span>
      <span className="unseen">{why}</span>
    </span>
  );
}

/** All columns of a row share the answer. */
function useFigures(entity: Entity, id: number): UseQueryResult<RowFigures> {
  const membership = useMembership();
  return useQuery({
    queryKey: [membership.membershipId, "row-figures", entity, id],
    staleTime: FRESH_MS,
    refetchInterval: ({ state: { status, error } }) =>
      status === "error" && !(error instanceof Problem && error.status === 403) ? AGAIN_MS : false,
    queryFn: async () => {
      const figures = await gatheredFor(membership, entity).ask(id);
      if (figures === undefined) throw new Error("The report has left a row out.");
      return figures;
    },
  });
}

const gatherers = new WeakMap<Reader["api"], Map<Entity, Gathered<number, RowFigures>>>();

/** One report for all rows of a page, not one for each. */
function gatheredFor(reader: Reader, entity: Entity): Gathered<number, RowFigures> {
  const known = gatherers.get(reader.api) ?? new Map<Entity, Gathered<number, RowFigures>>();
  gatherers.set(reader.api, known);
  const found =
    known.get(entity) ??
    new Gathered<number, RowFigures>(IDS_MAX, async (ids) => {
      const answer = await readReport(reader, {
        preset: "last30",
        group_by: `${entity},currency`,
        metrics: [...COUNTS, ...MONEY].join(","),
        filters: `${entity}:in:${ids.join("|")}`,
        limit: String(ROWS_MAX),
      });
      return figuresIn(answer, entity, ids);
    });
  known.set(entity, found);
  return found;
}
