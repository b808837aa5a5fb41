/** One program and the end of its output. */
export type PrintingProgram = { readonly name: string; readonly output: () => string };

/** Of a test file that starts more programs, the last ones are kept. */
const PROGRAMS_MAX = 8;

const programs: PrintingProgram[] = [];

/** From now on a failed test prints the end of this output (test/system/failure-logs.ts), also after the program has ended. */
export function showOnFailure(program: PrintingProgram): void {
  programs.push(program);
  if (programs.length > PROGRAMS_MAX) programs.shift();
}

export function printingPrograms(): readonly PrintingProgram[] {
  return programs;
}

/** Files of one worker share this module: no file shows the programs of the file before. */
export function forgetPrograms(): void {
  programs.length = 0;
}
