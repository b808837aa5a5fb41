import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { ClickIdMint } from "../../schemas/ids/click-id.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import type { ClickState } from "../decide/click-state.ts";
import type { VisitReaders } from "../request/visit.ts";
import type { RawRequest } from "../route.ts";

/** What every route that records traffic needs. */
export type ClickDeps = VisitReaders & {
  readonly catalog: Catalog;
  /** Called for every click, after the catalog is loaded: its secret comes with the catalog. */
  readonly mint: () => ClickIdMint;
  /** Dates impressions, which have no id. */
  readonly clock: Clock;
  readonly state: ClickState;
  /** Takes a visit of a link that names no offer or partner of its host, after its answer is known. */
  readonly noteUnknownLink?: (request: RawRequest, httpStatus: number) => void;
  /** From 0 up to but not including 1; `Math.random` without it. */
  readonly random?: () => number;
};
