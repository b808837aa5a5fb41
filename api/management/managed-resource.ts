import type { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Principal } from "../access/principal.ts";
import type { References } from "../access/references.ts";
import type { Resource } from "../access/visibility.ts";
import type { ErrorCode } from "../errors.ts";
import type { FieldFaults, Operation, OperationAccess, OperationContext } from "../operation.ts";
import type { Filter, FilterValues } from "../rest/filter-conditions.ts";
import type { ManagedRow } from "./managed-table.ts";

export type Body = Readonly<Record<string, unknown>>;

/** A managed resource whose records are rows of one table: what tells it from the others. */
export type ManagedResource = {
  /** Name of the rule in the table of visibility; "smart_link" is called "smart link" in messages. */
  readonly resource: Resource;
  /** Ends of the names of its operations: `list` + many, `create` + one. */
  readonly names: { readonly one: string; readonly many: string };
  readonly path: string;
  /** "Management" unless the contract has it under a name of its own. */
  readonly tag?: string;
  /** Summaries that say more than those which the names make. */
  readonly summaries?: Partial<Readonly<Record<"list" | "get" | "create" | "update", string>>>;
  /** `{id}` of a path is an id or a code (G25). */
  readonly hasCode?: true;
  readonly table: string;
  /** What a body may have. Every field is a column. */
  readonly fields: z.ZodRawShape;
  /** Fields that a new record must have. */
  readonly required: readonly string[];
  /** Values of the other fields of a new record. */
  readonly defaults: Body;
  /** Those that depend on the caller or are made anew for each; while one that is made is taken, another is tried. */
  readonly minted?: (context: OperationContext) => Body;
  /** Columns that an answer has besides `fields`. `id` and times belong here. */
  readonly kept: z.ZodRawShape;
  /** Those of `kept` that `defaults`, `minted` or `under` set when a record is made, and nothing afterwards. */
  readonly made?: readonly string[];
  /** Those of `kept` that follow from the other values, at every write. */
  readonly derived?: {
    readonly columns: readonly string[];
    readonly from: (values: Body) => Body;
  };
  /** One of `kept` that is made with the record, and that an operation makes anew. */
  readonly secret?: RotatedSecret;
  /** Records that belong to one of another resource are made under its path: its operation, and the column of its id. */
  readonly under?: { readonly of: Operation; readonly column: string };
  /** Most records of the workspace, or under one record. */
  readonly recordsMax?: number;
  /** Schemas of fields in answers; all of `fields`, and what `present` adds. */
  readonly shown: z.ZodRawShape;
  /** A record as it is answered, where that is more than its columns. */
  readonly present?: (context: OperationContext, row: ManagedRow) => Body | Promise<Body>;
  /** Whether a key that may read sees this record, where that takes more than its workspace. */
  readonly isSeen?: (db: Queryable, principal: Principal, row: ManagedRow) => Promise<boolean>;
  /** Throws for a record that the key may read and neither change nor delete. */
  readonly refuseWrite?: (principal: Principal, row: ManagedRow) => void;
  readonly read: OperationAccess;
  readonly write: OperationAccess;
  /** Query parameters of the list; each is a column and its value, or stands in `conditions`. */
  readonly filters?: z.ZodRawShape;
  readonly conditions?: Readonly<Record<string, Filter>>;
  /** The filters that a list of this key has, from those that it asked for. May throw a refusal of a parameter. */
  readonly narrow?: (principal: Principal, filters: FilterValues) => FilterValues;
  readonly references?: References;
  /** Unique index, or what else refuses a value, to the field whose value it is; "another record has this" without a message. */
  readonly taken?: Readonly<Record<string, string | TakenField>>;
  /** Faults that two fields show together. `values` is the body over what is stored or the defaults. May throw a refusal. */
  readonly findFaults?: (
    context: OperationContext,
    values: Body,
    sent: { readonly body: Body; readonly before: Body },
  ) => FieldFaults | Promise<FieldFaults>;
  /** What `findFaults` throws. */
  readonly refusals?: readonly ErrorCode[];
  /** What else a write changes, in its transaction and before it. */
  readonly beforeWrite?: (tx: Queryable, workspaceId: number, values: Body) => Promise<void>;
  /** What follows from a change, in its transaction. */
  readonly afterUpdate?: (
    tx: Queryable,
    workspaceId: number,
    change: { readonly before: ManagedRow; readonly after: ManagedRow },
  ) => Promise<void>;
  /** A word for what uses a record in a way that no foreign key holds; undefined when nothing does. */
  readonly findUser?: (db: Queryable, id: number) => Promise<string | undefined>;
};

/** A column that the service fills. The operation is POST `{path}/{id}/{end}`. */
export type RotatedSecret = {
  readonly column: string;
  readonly mint: () => string;
  readonly operation: {
    readonly name: string;
    readonly end: string;
    readonly summary: string;
  };
};

export type TakenField = { readonly field: string; readonly message: string };

/** "smart_link" as people read it. */
export function nounOf({ resource }: ManagedResource): string {
  return resource.replaceAll("_", " ");
}

export function tagOf({ tag = "Management" }: ManagedResource): string {
  return tag;
}
