import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { WebSocket } from "undici";
import { z } from "zod";
import { until } from "../../system/until.ts";

/** Makes each Node process listen for a debugger, on a port of its own. */
export const WITH_DEBUGGER = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

const Message = z.object({
  id: z.int().optional(),
  method: z.string().optional(),
  params: z.object({ url: z.string().default("") }).optional(),
});

/** Every script that a process of the service has loaded, ES module or not, as its debugger lists them. */
export async function loadedModules(dataDir: string, name: string): Promise<string[]> {
  const url = await until(`${name} has a debugger`, async () => {
    const text = await readFile(join(dataDir, "logs", `${name}.log`), "utf8");
    return [...text.matchAll(/Debugger listening on (ws:\S+)/g)].at(-1)?.[1];
  });
  const modules: string[] = [];
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("error", () => reject(new Error(`no debugger at ${url}`)));
    socket.addEventListener("open", () =>
      socket.send(JSON.stringify({ id: 1, method: "Debugger.enable" })),
    );
    socket.addEventListener("message", ({ data }) => {
      const { id, method, params } = Message.parse(JSON.parse(String(data)));
      if (method === "Debugger.scriptParsed") modules.push(params?.url ?? "");
      // Its answer comes after all scripts.
      if (id === 1) resolve();
    });
  });
  socket.close();
  return modules;
}
