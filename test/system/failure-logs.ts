/** Loaded before each test file: a failed test is followed by what the programs it used have printed last. */
import { afterAll, afterEach } from "vitest";
import { forgetPrograms, printingPrograms } from "./printing-programs.ts";

const LINES_MAX = 40;
const LINE_CHARACTERS_MAX = 600;

afterEach(({ task }) => {
  if (task.result?.state !== "fail") return;
  for (const { name, output } of printingPrograms()) {
    const lines = output()
      .split("\n")
      .filter((line) => line !== "")
      .slice(-LINES_MAX)
      .map((line) => `  ${line.slice(0, LINE_CHARACTERS_MAX)}`);
    process.stderr.write(`\n${task.name}: ${name} printed last:\n${lines.join("\n")}\n`);
  }
});

afterAll(forgetPrograms);
