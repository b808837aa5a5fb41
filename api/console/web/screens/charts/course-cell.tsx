import { useQuery } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { Link } from "wouter";
import { Gathered } from "../../client/gathered.ts";
import { type Reader, readReport } from "../../client/reports.ts";
import { formatCount } from "../../format/figure.ts";
import { type Membership, useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { heightOf } from "../../plots/pixels.ts";
import { Sparkline } from "../../plots/sparkline.tsx";
import { daysFrom, localDay } from "./local-days.ts";

type Entity = "offer" | "affiliate" | "advertiser";

const DAYS = 14;
const DAY_MS = 86_400_000;
/** A page of a list has 100 rows. */
const IDS_MAX = 200;
const FRESH_MS = 60_000;

/** The column of a list that shows the clicks of the last 14 days. It opens the report of the record. */
export function courseColumn<Row extends { readonly id: number; readonly name: string }>(
  entity: Entity,
): Column<Row> {
  return {
    name: "course",
    title: "Clicks, 14 days",
    cell: ({ id, name }) => <CourseCell entity={entity} id={id} name={name} />,
  };
}

function CourseCell({
  entity,
  id,
  name,
}: {
  readonly entity: Entity;
  readonly id: number;
  readonly name: string;
}): ReactElement | null {
  const membership = useMembership();
  const { data } = useQuery({
    queryKey: [membership.membershipId, "course", entity, id],
    staleTime: FRESH_MS,
    queryFn: async () => (await gatheredFor(membership, entity).ask(id)) ?? [],
  });
  if (data === undefined) return null;
  const total = data.reduce((sum, clicks) => sum + clicks, 0);
  const params = new URLSearchParams({
    preset: "last14",
    group_by: "date",
    sort: "date",
    filters: `${entity}:in:${id}`,
  });
  return (
    <Link
      className="course"
      href={`${membership.base}/reports?${params.toString()}`}
      aria-label={`${formatCount(total)} clicks of ${name} in ${DAYS} days: open the report`}
    >
      <Sparkline values={data.length === 0 ? [0, 0] : data} label={`${total} clicks`} />
      <span>{formatCount(total)}</span>
    </Link>
  );
}

const gatherers = new WeakMap<Reader["api"], Map<Entity, Gathered<number, readonly number[]>>>();

/** One report for all rows of a page, not one for each. */
function gatheredFor(membership: Membership, entity: Entity): Gathered<number, readonly number[]> {
  const known =
    gatherers.get(membership.api) ?? new Map<Entity, Gathered<number, readonly number[]>>();
  gatherers.set(membership.api, known);
  const found =
    known.get(entity) ??
    new Gathered<number, readonly number[]>(
      IDS_MAX,
      async (ids) => await readCourses(membership, entity, ids),
    );
  known.set(entity, found);
  return found;
}

async function readCourses(
  membership: Membership,
  entity: Entity,
  ids: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const { data } = await readReport(membership, {
    preset: "last14",
    group_by: `${entity},date`,
    metrics: "clicks",
    filters: `${entity}:in:${ids.join("|")}`,
    limit: String(IDS_MAX * DAYS),
  });
  const last = localDay(new Date(), membership.zone);
  const days = daysFrom(localDay(new Date(Date.parse(last) - (DAYS - 1) * DAY_MS), "UTC"), last);
  const courses = new Map<number, number[]>(ids.map((id) => [id, days.map(() => 0)]));
  for (const row of data) {
    const at = days.indexOf(String(row["date"]));
    const course = courses.get(Number(row[entity]));
    if (course !== undefined && at >= 0) course[at] = heightOf(row["clicks"]) ?? 0;
  }
  return courses;
}
