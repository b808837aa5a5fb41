import ts from "typescript";

/** One fault: where a source breaks a SQL rule. `line` counts from 1. */
export type SqlFault = {
  readonly rule: "select-star" | "value-in-text" | "session-state";
  readonly line: number;
  readonly text: string;
};

/** How a statement begins. Narrow enough that no sentence of a message matches. */
const STATEMENT = new RegExp(
  `^\\s*(--[^\\n]*\\n\\s*)*(${[
    "select\\s",
    "insert\\s+into\\s",
    "update\\s+[\\w.?]+(\\s+(as\\s+)?\\w+)?\\s+set\\s",
    "delete\\s+from\\s",
    "merge\\s+into\\s",
    "with\\s+(recursive\\s+)?[\\w?]+\\s*(\\([^)]*\\)\\s*)?as\\s",
    "truncate\\s",
    "(create|alter|drop)\\s+(or\\s+replace\\s+|unique\\s+|unlogged\\s+|materialized\\s+)*" +
      "(table|index|view|database|schema|role|user|function|type|sequence|extension)\\s",
    "(grant|revoke|lock|copy|notify|listen)\\s",
  ].join("|")})`,
  "i",
);

/** `select *`, `select t.*`, `, t.*` and `returning *`, but not `count(*)`. */
const STAR = /\b(select(\s+distinct)?|returning)\s+(\w+\.)?\*|,\s*\w+\.\*/i;

/**
 * State that lives in a Postgres session, and is lost or somebody else's behind a pooler in transaction mode: locks and cursors
 * that outlive a transaction, `listen`, settings, temporary tables, hand-written `prepare`.
 */
const SESSION_STATE = new RegExp(
  [
    "\\bpg_(try_)?advisory_(lock|unlock)\\w*\\s*\\(",
    "^\\s*(un)?listen\\s+\\w+\\s*;?\\s*$",
    "^\\s*(set\\s+(session\\s+)?(?!local\\b|transaction\\b)\\w+\\s*(=|to\\b)|discard\\s|prepare\\s+\\w+\\s+(as\\b|\\())",
    "\\bset_config\\s*\\([^()]*,\\s*false\\s*\\)",
    "\\bcreate\\s+(local\\s+|global\\s+)?temp(orary)?\\s",
    "\\bwith\\s+hold\\b",
  ].join("|"),
  "i",
);

/**
 * Expressions that may stand in the text of a statement: a constant of the module or an entry of one, a quoted name, or what
 * schemas/clickhouse/all-shards.ts calls a table of ClickHouse.
 */
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;
const QUOTING =
  /^(quoteIdentifiers?|quoteConditions|quoteAfter|quoteOrder|escapeIdentifier|allShards|everyFence)$/;

/**
 * The faults in the SQL statements of a TypeScript source.
 *
 * A statement is any string that begins like one. Only files that use Postgres must pass values as parameters: a ClickHouse
 * statement is compiled from parts, with typed parameters.
 */
export function sqlFaultsInSource(path: string, source: string): SqlFault[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const faults: SqlFault[] = [];
  const speaksPostgres = usesPostgres(path, file);
  const add = (rule: SqlFault["rule"], node: ts.Node): void => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    faults.push({ rule, line, text: node.getText() });
  };
  const visit = (node: ts.Node): void => {
    const parts = partsOf(node);
    if (parts === undefined) {
      ts.forEachChild(node, visit);
      return;
    }
    const text = parts.map((part) => (typeof part === "string" ? part : "?")).join("");
    const values = parts.filter((part) => typeof part !== "string");
    if (SESSION_STATE.test(text) && (speaksPostgres || isTextOfQuery(node))) {
      add("session-state", node);
    }
    if (STATEMENT.test(text) || isTextOfQuery(node)) {
      if (STAR.test(text)) add("select-star", node);
      if (speaksPostgres && !values.every(isHarmless)) add("value-in-text", node);
    }
    for (const value of values) visit(value);
  };
  visit(file);
  return faults;
}

/** The faults in a SQL file, outside comments. */
export function sqlFaultsInScript(script: string): SqlFault[] {
  const lines = script.split("\n").map((line) => line.replace(/--.*$/, ""));
  const stars = lines.flatMap((text, index): SqlFault[] =>
    STAR.test(text) ? [{ rule: "select-star", line: index + 1, text: text.trim() }] : [],
  );
  let line = 1;
  const kept = lines
    .join("\n")
    .split(";")
    .flatMap((statement): SqlFault[] => {
      const begins = line + (/^\s*/.exec(statement)?.[0].split("\n").length ?? 1) - 1;
      line += statement.split("\n").length - 1;
      return SESSION_STATE.test(statement)
        ? [{ rule: "session-state", line: begins, text: statement.trim() }]
        : [];
    });
  return [...stars, ...kept];
}

/** The literal texts and the expressions of a string or a concatenation; undefined for any other node. */
function partsOf(node: ts.Node): (string | ts.Expression)[] | undefined {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) {
    return [
      node.head.text,
      ...node.templateSpans.flatMap((span) => [span.expression, span.literal.text]),
    ];
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return [...(partsOf(node.left) ?? [node.left]), ...(partsOf(node.right) ?? [node.right])];
  }
  return undefined;
}

/** Whether `node` is the text in `db.query({ text: node })`, which is a statement however it begins. */
function isTextOfQuery(node: ts.Node): boolean {
  const { parent: property } = node;
  if (!ts.isPropertyAssignment(property) || property.name.getText() !== "text") return false;
  const call = property.parent.parent;
  return (
    ts.isCallExpression(call) &&
    ts.isPropertyAccessExpression(call.expression) &&
    call.expression.name.text === "query"
  );
}

function isHarmless(value: ts.Expression): boolean {
  if (ts.isIdentifier(value)) return CONSTANT.test(value.text);
  if (ts.isElementAccessExpression(value)) return isHarmless(value.expression);
  return (
    ts.isCallExpression(value) &&
    QUOTING.test(
      ts.isPropertyAccessExpression(value.expression)
        ? value.expression.name.text
        : value.expression.getText(),
    )
  );
}

function usesPostgres(path: string, file: ts.SourceFile): boolean {
  return (
    path.startsWith("schemas/postgres/") ||
    file.statements.some(
      (statement) =>
        ts.isImportDeclaration(statement) &&
        ts.isStringLiteral(statement.moduleSpecifier) &&
        /(^pg$|\/postgres\/)/.test(statement.moduleSpecifier.text),
    )
  );
}
