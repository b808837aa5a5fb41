/** What a release that runs beside the new schema would miss, or what would refuse its writes. */
const DESTRUCTIVE = new RegExp(
  [
    "^drop\\s",
    "^(truncate|delete\\s+from|update)\\s",
    "^exchange\\s+tables\\s",
    "\\bdrop\\s+(column|constraint|default|not\\s+null|identity|expression|attribute|value)\\b",
    "^alter\\s+table\\s.*\\sdrop\\s+(?!projection\\b)",
    "^(alter|rename)\\s.*\\brename\\b|^rename\\s",
    "\\bset\\s+not\\s+null\\b",
    "\\balter\\s+(column\\s+)?\\S+\\s+(set\\s+data\\s+)?type\\b",
    "\\bmodify\\s+column\\b",
    "\\badd\\s+(constraint|check|unique|primary\\s+key|foreign\\s+key|exclude)\\b",
    "^create\\s+unique\\s+index\\b",
  ].join("|"),
);
const ADDED_COLUMN = /\badd\s+column\b[^,]*/g;
const CREATED_TABLE = /^create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(\w+)/;
const CHANGED_TABLE =
  /^(?:alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)|create\s+(?:unique\s+)?index\s.*?\son\s+(?:only\s+)?(\w+))/;
const ADDED_NAME = /\badd\s+column\s+(?:if\s+not\s+exists\s+)?(\w+)/g;
/** Sets one column of a table. */
const FILL = /^update\s+(\w+)\s+(?:\w+\s+)?set\s+(\w+)\s*=[^,]*(?:\sfrom\s|\swhere\s|$)/;
const CREATED_INDEX = /^create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)/;
const REPLACED_INDEX = /^drop\s+index\s+concurrently\s+if\s+exists\s+(\w+)$/;
/** On only a partitioned table, an index builds nothing: it is for partitions that are made later. */
const BLOCKING = /^create\s+(?:unique\s+)?index\s+(?!concurrently\b)(?!\w+\s+on\s+only\s)/;

export type MigrationFault = {
  readonly what: "destructive" | "blocking";
  readonly statement: string;
};

/**
 * The statements of a migration that only `-- contract:` may have, and those that keep writers out of an existing table for long.
 * Tables that the migration itself creates are free, and so is filling a column that it adds. Bodies of functions are not read.
 */
export function migrationFaults(sql: string): MigrationFault[] {
  const statements = plainStatements(sql);
  const isFree = freedBy(statements);
  return statements.flatMap((statement): MigrationFault[] => {
    if (isFree(statement)) return [];
    if (DESTRUCTIVE.test(statement) || hasColumnThatMustBeGiven(statement)) {
      return [{ what: "destructive", statement }];
    }
    return BLOCKING.test(statement) ? [{ what: "blocking", statement }] : [];
  });
}

/** Whether a statement only changes what its own migration makes. */
function freedBy(statements: readonly string[]): (statement: string) => boolean {
  const tables = new Set(statements.map((text) => CREATED_TABLE.exec(text)?.[1]));
  const indexes = new Set(statements.map((text) => CREATED_INDEX.exec(text)?.[1]));
  const columns = new Set(
    statements.flatMap((text) => {
      const table = CHANGED_TABLE.exec(text)?.[1] ?? "";
      return [...text.matchAll(ADDED_NAME)].map(([, name = ""]) => `${table}.${name}`);
    }),
  );
  return (statement) => {
    const [, altered, indexed] = CHANGED_TABLE.exec(statement) ?? [];
    const table = altered ?? indexed;
    const [, owner = "", filled = ""] = FILL.exec(statement) ?? [];
    // What an interrupted `create index concurrently` left is dropped before it is repeated.
    const replaced = REPLACED_INDEX.exec(statement)?.[1];
    return (
      (table !== undefined && tables.has(table)) ||
      columns.has(`${owner}.${filled}`) ||
      (replaced !== undefined && indexes.has(replaced))
    );
  };
}

/** Inserts of an older release leave it out. */
function hasColumnThatMustBeGiven(statement: string): boolean {
  const added = statement.match(ADDED_COLUMN) ?? [];
  return added.some((text) => /\bnot\s+null\b/.test(text) && !/\b(default|generated)\b/.test(text));
}

/** Lower case, without comments, texts and bodies of functions, on one line each. */
function plainStatements(sql: string): string[] {
  return sql
    .replace(/--.*$/gm, "")
    .replace(/(\$\w*\$)[\s\S]*?\1/g, "''")
    .replace(/'(?:[^']|'')*'/g, "''")
    .toLowerCase()
    .split(";")
    .map((text) => text.replace(/\s+/g, " ").trim())
    .filter((text) => text !== "");
}
