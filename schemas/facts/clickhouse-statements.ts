/** How ClickHouse stores a table of facts: a ReplacingMergeTree(version), read with FINAL. Constants of this folder. */
export type ClickhouseNames = {
  readonly table: "conversion_fact" | "ad_cost_fact";
  readonly money: readonly string[];
  readonly atMs: string;
  /** Rows from {from:Int64} up to before {to:Int64}, UTC milliseconds. */
  readonly inSpan: string;
  /** SQL of the same text as in Postgres, byte for byte. */
  readonly content: string;
  readonly offerId: string;
  /** The sorting key after the workspace, as a tuple. `keyOfParameter` is the same tuple of a parameter's at_ms, offer and id_text. */
  readonly key: string;
  readonly keyOfParameter: string;
};

/** Statements on one table. Spans are {workspace:UInt32}, {from:Int64} and {to:Int64}; keys are three arrays. */
export type ClickhouseStatements = {
  readonly table: ClickhouseNames["table"];
  /** Sums by period of {unit:Int64} milliseconds and currency, or by slice of {unit:Int64}. */
  readonly sumsByPeriod: string;
  readonly sumsBySlice: string;
  /** Rows of slice {slice:Int64} of {slices:Int64}. */
  readonly rows: string;
  readonly rowsOfKeys: string;
  readonly ends: string;
  /** Rows of the keys up to {version:UInt32}. */
  readonly deleteKeys: string;
};

export function clickhouseStatements(names: ClickhouseNames): ClickhouseStatements {
  const { table, money, atMs, inSpan, content } = names;
  const columns = `select toString(id) as id_text, ${atMs} as "atMs", ${names.offerId} as "offerId", version,
    lower(hex(MD5(${content}))) as digest, currency,
    [${money.map((column) => `toDecimalString(${column}, 4)`).join(", ")}] as money
    from ${table} final`;
  const sums = `currency, count() as rows, sum(toUInt64(version)) as versions,
    [${money.map((column) => `toDecimalString(sum(${column}), 4)`).join(", ")}] as money,
    sum(toUInt64(${hashOf(content)})) as hash
    from ${table} final where workspace_id = {workspace:UInt32} and ${inSpan} group by grp, currency`;
  const slice = hashOf("toString(id)");
  const isKey = `workspace_id = {workspace:UInt32} and ${names.key} in (
    select arrayJoin(arrayMap((at_ms, offer, id_text) -> ${names.keyOfParameter},
      {at_ms:Array(Int64)}, {offers:Array(Int64)}, {ids:Array(String)})))`;
  return {
    table,
    sumsByPeriod: `select intDiv(${atMs}, {unit:Int64}) * {unit:Int64} as grp, ${sums}`,
    sumsBySlice: `select ${slice} % {unit:Int64} as grp, ${sums}`,
    rows: `${columns} where workspace_id = {workspace:UInt32} and ${inSpan} and ${slice} % {slices:Int64} = {slice:Int64}`,
    rowsOfKeys: `${columns} where ${isKey}`,
    ends: `select workspace_id as workspace, min(${atMs}) as "firstMs", max(${atMs}) as "lastMs" from ${table} group by workspace`,
    deleteKeys: `delete from ${table} where ${isKey} and version <= {version:UInt32}`,
  };
}

function hashOf(text: string): string {
  return `reinterpretAsUInt32(reverse(substring(MD5(${text}), 1, 4)))`;
}
