import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OBSERVE } from "./alert-rules.ts";

const FOLDER = join(OBSERVE, "runbooks");

export type Runbook = {
  /** The name of its alert. */
  readonly name: string;
  readonly title: string;
  readonly headings: readonly string[];
  /** Everything in `backticks`, each once. */
  readonly words: readonly string[];
  /** Statements for Postgres. */
  readonly statements: readonly string[];
};

export const runbooks: readonly Runbook[] = readdirSync(FOLDER)
  .toSorted()
  .map((file) => readRunbook(file));

function readRunbook(file: string): Runbook {
  const text = readFileSync(join(FOLDER, file), "utf8");
  const prose = text.replaceAll(/^```sql\n[\s\S]*?^```$/gm, "");
  return {
    name: file.replace(/\.md$/, ""),
    title: /^# (.*)$/m.exec(text)?.[1] ?? "",
    headings: [...text.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading),
    words: [...new Set([...prose.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word))],
    statements: [...text.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql = ""]) => sql),
  };
}
