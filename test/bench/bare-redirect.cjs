// The baseline of `npm run bench`: the same server library, one constant answer. CommonJS, like the library.
const { App } = require("uWebSockets.js");

const port = Number(process.argv[2]);
App()
  .any("/*", (response) => {
    response
      .writeStatus("302 Found")
      .writeHeader(
        "Location",
        "https://example.com/landing?click_id=0123456789abcdef0123456789abcdef",
      )
      .end();
  })
  .listen("127.0.0.1", port, (socket) => {
    if (socket) console.log("listening");
    else process.exitCode = 1;
  });
process.stdin.on("close", () => process.exit(0)).resume();
