/** `npm start`: the whole service on one machine, in one terminal. */
import { EXIT_WRONG_SETTINGS, SettingsError } from "../../schemas/host/read-settings.ts";
import { unknownSettings } from "../../schemas/host/unknown-settings.ts";
import { launch, takeDataDir } from "./launch.ts";
import { formatSeconds, LaunchError, type Report, terminalReport } from "./report.ts";
import { type LauncherSettings, readLauncherSettings } from "./settings.ts";
import { Supervisor } from "./supervisor.ts";

const EXIT_FAILED = 1;

async function main(): Promise<number> {
  const { stdout } = process;
  // If the terminal is closed, the processes must still be stopped cleanly.
  stdout.on("error", () => undefined);
  const report = terminalReport({
    write: (text) => void stdout.write(text),
    colours: stdout.isTTY,
  });
  for (const sentence of unknownSettings(process.env)) report.warn("settings", sentence);
  let settings: LauncherSettings;
  try {
    settings = readLauncherSettings();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const line of error.message.split("\n")) report.warn("settings", line);
    return EXIT_WRONG_SETTINGS;
  }
  try {
    const release = takeDataDir(settings);
    try {
      return await run(settings, report);
    } finally {
      release();
    }
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    report.warn("cannot start", error.message);
    return EXIT_FAILED;
  }
}

/** Runs until a signal. Cleans up after a failed start before it reports the error. */
async function run(settings: LauncherSettings, report: Report): Promise<number> {
  const supervisor = new Supervisor(report);
  const wanted = new AbortController();
  const ended = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (wanted.signal.aborted) return;
        report.note("stopping", "the processes first, then the servers");
        wanted.abort(new Error(`ended by ${signal}`));
        resolve();
      });
    }
  });
  // Aborts whatever the start is waiting for.
  wanted.signal.addEventListener("abort", () => void supervisor.stop());
  try {
    await launch({ settings, environment: process.env, report, supervisor, signal: wanted.signal });
    await ended;
  } catch (error) {
    if (!wanted.signal.aborted) throw error;
  } finally {
    const stoppingSinceMs = Date.now();
    await supervisor.stop();
    if (wanted.signal.aborted) {
      report.note("stopped", `after ${formatSeconds(Date.now() - stoppingSinceMs)}`);
    }
  }
  return 0;
}

process.exitCode = await main();
