// Passes requests on to the service of a demo file, with its admin key. Prints the address of /mcp behind it.
const { readFileSync } = require("node:fs");
const { createServer, request } = require("node:http");

const demo = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { hostname, port } = new URL(demo.base_url);
const authorization = `Bearer ${demo.keys.admin}`;

const door = createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
  const passed = request({ hostname, port, method, path, headers: { ...headers, authorization } });
  passed.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  passed.on("error", (error) => outgoing.writeHead(502).end(String(error)));
  incoming.pipe(passed);
});
door.listen(0, "127.0.0.1", () =>
  process.stdout.write(`http://127.0.0.1:${door.address().port}/mcp\n`),
);
