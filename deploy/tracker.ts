/** The program of an installation: `tracker <role>` runs a role until a signal ends it, `tracker <command>` runs a command. */
import { PROGRAM_ROLES } from "../schemas/host/program-roles.ts";

const EXIT_USAGE = 2;

/** Importing one of these programs runs it. Each reads the same arguments. */
async function main([word, ...rest]: readonly string[]): Promise<void> {
  const role = PROGRAM_ROLES.find(({ name }) => name === word)?.name;
  if (role === undefined || rest.includes("--help") || rest.includes("-h")) {
    await import("../api/tracker.ts");
    return;
  }
  if (role === "ingress") {
    await import("./workers/main.ts");
    return;
  }
  if (rest.length > 0) {
    const sentence = `tracker ${role}: unexpected argument "${rest[0] ?? ""}". The role takes none.`;
    process.stderr.write(`${sentence}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  if (role === "api") await import("../api/main.ts");
  else await import("../processors/main.ts");
}

await main(process.argv.slice(2));
