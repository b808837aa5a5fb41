import type { ReactNode } from "react";
import type { Api } from "../client/api-client.ts";
import type { Page, Query } from "../client/lists.ts";
import type { Membership } from "../member/membership.ts";
import type { Column } from "../parts/data-table.tsx";
import type { FormField, RecordBody } from "./form-field.ts";
import type { ListFilter } from "./list-filters.tsx";

export type ResourceRow = { readonly id: number };

/** Records of one kind that a screen lists, makes, changes and deletes. */
export type RecordResource<Row extends ResourceRow> = {
  /** Such as "Coupons" and "coupon". */
  readonly title: string;
  readonly noun: string;
  /** What the records are for, in a sentence. */
  readonly about: string;
  /** Begins the keys of cached answers. */
  readonly name: string;
  readonly titleOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly filters?: readonly ListFilter[];
  readonly fields: readonly FormField[];
  /** What a new record starts with. */
  readonly initial?: object;
  /** Needed to write. */
  readonly permission: Membership["permissions"][number];
  readonly list: (api: Api, query: Query, signal: AbortSignal) => Promise<Page<Row>>;
  /** Left out if the API reads no single record: the list, which is whole, has it. */
  readonly get?: (api: Api, id: number, signal: AbortSignal) => Promise<Row>;
  readonly create: (api: Api, body: RecordBody) => Promise<{ readonly id: number }>;
  /** Left out for records that cannot be changed. */
  readonly update?: (api: Api, id: number, body: RecordBody) => Promise<unknown>;
  readonly remove: (api: Api, id: number) => Promise<unknown>;
  /** Shown below the record. */
  readonly more?: (row: Row) => ReactNode;
  /** What a record is before and after it is switched off. */
  readonly states?: { readonly on: string; readonly off: string };
};
