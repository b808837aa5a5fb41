/**
 * The baseline of the REST bench: a process with a bare Fastify route for each statement, which runs it with `pg` and sends the rows
 * unchanged: `node bare-route.js <port> <routes.json>` with POSTGRES_URL set. It checks and counts nothing.
 */
import { readFile } from "node:fs/promises";
import { fastify } from "fastify";
import { z } from "zod";
import { openPool } from "../../schemas/postgres/connect.ts";

const Routes = z.array(
  z.object({
    path: z.string(),
    name: z.string().optional(),
    text: z.string(),
    values: z.array(z.unknown()),
  }),
);

const [port = "", routesPath = ""] = process.argv.slice(2);
const routes = Routes.parse(JSON.parse(await readFile(routesPath, "utf8")));
const pool = openPool({ url: process.env["POSTGRES_URL"] ?? "", applicationName: "bench bare" });
const app = fastify();
app.get("/health", () => ({ status: "ok" }));
for (const { path, name, text, values } of routes) {
  const statement = { ...(name === undefined ? {} : { name }), text, values };
  app.get(path, async () => ({ data: (await pool.query(statement)).rows }));
}
await app.listen({ host: "127.0.0.1", port: Number(port) });
process.stdin.on("close", () => {
  void app.close().then(() => pool.end());
});
process.stdin.resume();
