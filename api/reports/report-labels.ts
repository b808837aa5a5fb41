import type { Queryable } from "../../schemas/postgres/connect.ts";
import {
  anonymousPartner,
  type EntityLabel,
  type EntityLabels,
  labelOf,
  readLabels,
} from "../catalog/labels/entity-labels.ts";
import { type Dimension, dimensionLabel } from "./dimensions.ts";
import type { ReportScope } from "./report-scope.ts";

/** Bounds the cache of a stream of rows. Beyond it, names are read again. */
const LABELS_CACHED_MAX = 50_000;

/** Names for the values of a report's dimensions, as far as the caller may see them. */
export class ReportLabels {
  readonly #db: Queryable;
  readonly #scope: ReportScope;
  readonly #cached = new Map<string, Map<number | string, EntityLabel>>();

  constructor(db: Queryable, scope: ReportScope) {
    this.#db = db;
    this.#scope = scope;
  }

  /** Reads the missing names of one dimension. Call before {@link of}. */
  async load(dimension: Dimension, values: Iterable<number | string>): Promise<void> {
    const { entity, name } = dimension;
    if (entity === undefined || this.#isAnonymous(dimension)) return;
    let cached = this.#cached.get(name);
    if (cached === undefined || cached.size > LABELS_CACHED_MAX) {
      cached = new Map();
      this.#cached.set(name, cached);
    }
    const ids = new Set<number | string>();
    for (const value of values) if (!cached.has(value)) ids.add(value);
    const { workspaceId } = this.#scope;
    const found: EntityLabels = await readLabels(this.#db, entity, { workspaceId, ids });
    for (const id of ids) cached.set(id, labelOf(found, id));
  }

  of(dimension: Dimension, value: number | string): EntityLabel {
    if (this.#isAnonymous(dimension)) return anonymousPartner(Number(value));
    return this.#cached.get(dimension.name)?.get(value) ?? dimensionLabel(dimension.kind, value);
  }

  #isAnonymous({ entity }: Dimension): boolean {
    return entity === "affiliate" && this.#scope.role === "advertiser";
  }
}
