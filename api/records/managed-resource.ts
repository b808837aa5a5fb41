import type { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { SecretKeys } from "../../schemas/secrets/secret-keys.ts";
import type { References } from "../access/references.ts";
import type { Resource } from "../access/visibility.ts";
import type { Fields } from "../fields/field.ts";
import type { Filter, FilterValues } from "../http/filter-conditions.ts";
import type { SortColumn } from "../http/list-order.ts";
import type { ErrorCode } from "../operation/errors.ts";
import type {
  FieldFaults,
  Operation,
  OperationAccess,
  OperationContext,
} from "../operation/operation.ts";
import type { Principal } from "../operation/principal.ts";
import type { ManagedRow } from "./managed-table.ts";

export type Body = Readonly<Record<string, unknown>>;

/** Describes a managed resource whose records are rows of one table. */
export type ManagedResource = {
  /** Name of its rule in the visibility table. Messages call "smart_link" "smart link". */
  readonly resource: Resource;
  /** Suffixes of the names of its operations: `list` + many, `create` + one. */
  readonly names: { readonly one: string; readonly many: string };
  readonly path: string;
  /** "Management" unless the contract groups it under another name. */
  readonly tag?: string;
  /** Added to the descriptions of the operations. */
  readonly descriptions?: Partial<Readonly<Record<"list" | "create", string>>>;
  /** `{id}` in a path is an id, a code (G25) or an alias of this kind (N112). */
  readonly hasCode?: "affiliate";
  readonly table: string;
  /** Fields that a body may have. Every field is a column, and answers show it. */
  readonly fields: Fields;
  /** The `fields` that have a wider form in the file of an import. */
  readonly imported?: z.ZodRawShape;
  /** Defaults that depend on the caller or are generated for each record. If a generated value is taken, another is tried. */
  readonly generated?: (context: OperationContext) => Body;
  /** Columns of answers that no body may have, such as `id` and times. */
  readonly readOnly: z.ZodRawShape;
  /** The `readOnly` columns that `generated` or `parent` fills on creation, and that never change afterwards. */
  readonly setOnCreate?: readonly string[];
  /** The `readOnly` columns that every write computes from the other values. */
  readonly derived?: {
    readonly columns: readonly string[];
    readonly from: (values: Body) => Body;
  };
  /** A `readOnly` column that is generated with the record and that an operation can replace. */
  readonly secret?: RotatedSecret;
  /** One of `fields` that is stored sealed. */
  readonly sealed?: SealedField;
  /** For records that are created under the path of another resource: the operation that gets it, and the column with its id. */
  readonly parent?: { readonly operation: Operation; readonly column: string };
  /** Maximum number of records in the workspace, or under one record. */
  readonly recordsMax?: number;
  /** Schemas of what `present` adds to answers. */
  readonly shown?: z.ZodRawShape;
  /** Builds the answer for a record, if it is more than its columns. */
  readonly present?: (context: OperationContext, row: ManagedRow) => Body | Promise<Body>;
  /** Whether a key that may read sees this record, if that depends on more than the workspace. */
  readonly isVisible?: (db: Queryable, principal: Principal, row: ManagedRow) => Promise<boolean>;
  /** Throws for a record that the key may read but not change or delete. */
  readonly refuseWrite?: (principal: Principal, row: ManagedRow) => void;
  readonly read: OperationAccess;
  readonly write: OperationAccess;
  /** Query parameters of the list. Each is a column and its value, or is listed in `conditions`. */
  readonly filters?: z.ZodRawShape;
  readonly conditions?: Readonly<Record<string, Filter>>;
  /** Columns by which the list can be sorted, each with its index, beside `created_at`. */
  readonly sorts?: Readonly<Record<string, SortColumn>>;
  /** Turns the filters that the key asked for into the filters that its list uses. May throw a refusal of a parameter. */
  readonly narrow?: (principal: Principal, filters: FilterValues) => FilterValues;
  readonly references?: References;
  /**
   * Unique index, or other reason for refusing a value → the field with that value. The default message is "another record has this
   * <field>".
   */
  readonly taken?: Readonly<Record<string, string | TakenField>>;
  /**
   * Finds faults that depend on several fields. `values` is the body merged over the stored values or the defaults. May throw a
   * refusal.
   */
  readonly findFaults?: (
    context: OperationContext,
    values: Body,
    sent: { readonly body: Body; readonly before: Body },
  ) => FieldFaults | Promise<FieldFaults>;
  /** Codes that `findFaults` throws. */
  readonly refusals?: readonly ErrorCode[];
  /** Further changes of a write, in its transaction and before it. */
  readonly beforeWrite?: (tx: Queryable, workspaceId: number, values: Body) => Promise<void>;
  /** Further changes that follow from a change, in its transaction. */
  readonly afterUpdate?: (
    tx: Queryable,
    context: OperationContext,
    change: { readonly before: ManagedRow; readonly after: ManagedRow },
  ) => Promise<void>;
  /** Returns what uses a record without a foreign key, for the message; undefined if nothing does. */
  readonly findUse?: (db: Queryable, id: number) => Promise<string | undefined>;
};

/** A field that is stored sealed, in a nullable column of bytea. It opens only as the field of its own record. */
export type SealedField = {
  readonly field: string;
  /** Null for a value that needs no secret. */
  readonly seal: (keys: SecretKeys, id: number, value: unknown) => Buffer | null;
  /** `sealed`: what the column has. What no key opens becomes a value that shows so. */
  readonly open: (keys: SecretKeys, id: number, sealed: unknown) => unknown;
};

/** A column with a secret, and the operation that replaces it: POST `{path}/{id}/{pathEnd}`. */
export type RotatedSecret = {
  readonly column: string;
  readonly mint: () => string;
  /** Ends what still works with earlier secrets, in the transaction that replaces the secret. */
  readonly forgetEarlier?: (tx: Queryable, id: number) => Promise<void>;
  readonly operation: {
    readonly name: string;
    readonly pathEnd: string;
    readonly summary: string;
    readonly description: string;
  };
};

export type TakenField = { readonly field: string; readonly message: string };

/** "smart_link" as people read it. */
export function nounOf({ resource }: ManagedResource): string {
  return resource.replaceAll("_", " ");
}

/** "an offer group". */
export function withArticle(managed: ManagedResource): string {
  const noun = nounOf(managed);
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}

export function tagOf({ tag = "Management" }: ManagedResource): string {
  return tag;
}
